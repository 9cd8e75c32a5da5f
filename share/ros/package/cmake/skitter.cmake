# The target skitter::skitter, the library that does the work: an installed one, or one built from its source along with this
# package. The source is what SKITTER_SOURCE names (a folder or an archive), or an archive vendor/skitter*.tar.gz.
set(SKITTER_SOURCE "" CACHE PATH "skitter's source, a folder or an archive; empty: what is installed, or vendor/skitter*.tar.gz")

file(GLOB vendored ${CMAKE_CURRENT_SOURCE_DIR}/vendor/skitter*.tar.gz ${CMAKE_CURRENT_SOURCE_DIR}/vendor/skitter*.tar.xz)
set(skitter_source "${SKITTER_SOURCE}")
if(NOT skitter_source AND vendored)
  list(GET vendored 0 skitter_source)
endif()

if(skitter_source)
  if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW)
  endif()
  include(ExternalProject)
  set(skitter_prefix ${CMAKE_CURRENT_BINARY_DIR}/skitter)
  if(IS_DIRECTORY "${skitter_source}")
    set(skitter_from SOURCE_DIR ${skitter_source})
  else()
    set(skitter_from URL ${skitter_source})
  endif()
  ExternalProject_Add(skitter_build ${skitter_from}
    PREFIX ${CMAKE_CURRENT_BINARY_DIR}/skitter_build INSTALL_DIR ${skitter_prefix}
    CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=<INSTALL_DIR> -DCMAKE_INSTALL_LIBDIR=lib -DSKITTER_TESTS=OFF
    BUILD_BYPRODUCTS ${skitter_prefix}/lib/libskitter.so)
  file(MAKE_DIRECTORY ${skitter_prefix}/include)
  add_library(skitter::skitter SHARED IMPORTED)
  set_target_properties(skitter::skitter PROPERTIES IMPORTED_LOCATION ${skitter_prefix}/lib/libskitter.so
    INTERFACE_INCLUDE_DIRECTORIES ${skitter_prefix}/include)
  add_dependencies(skitter::skitter skitter_build)
  # It goes with the package: what was linked from the build folder is found beside the component.
  install(DIRECTORY ${skitter_prefix}/lib/ DESTINATION lib FILES_MATCHING PATTERN "libskitter*.so*")
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)
  set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/..")
else()
  find_package(skitter {{skitter_version}} CONFIG QUIET)
  if(NOT TARGET skitter::skitter)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(SKITTER IMPORTED_TARGET skitter>={{skitter_version}})
    if(NOT SKITTER_FOUND)
      message(FATAL_ERROR "libskitter {{skitter_version}} or newer is not found. Install skitter ('make install PREFIX=/usr/local'; "
        "for another prefix add it to CMAKE_PREFIX_PATH), or build it along: --cmake-args -DSKITTER_SOURCE=/path/to/skitter")
    endif()
    add_library(skitter::skitter ALIAS PkgConfig::SKITTER)
  endif()
endif()
