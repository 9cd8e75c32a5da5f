# SPDX-License-Identifier: Apache-2.0
# What the wheel holds (`make wheel`): the module, and a program and a library which have every library but the C library's inside, so
# that they run where nothing else is installed.

# Archives of what skitter links, and of what those need; order matters to the linker.
set(wheel_archives "")
foreach(name hdf5_serial sz aec tiff webp zstd lzma Lerc jbig deflate turbojpeg jpeg png16 yaml jansson protobuf-c xxhash sodium z)
    find_library(SKITTER_ARCHIVE_${name} NAMES lib${name}.a PATH_SUFFIXES hdf5/serial)
    if(NOT SKITTER_ARCHIVE_${name})
        message(STATUS "The Python package is left out: there is no lib${name}.a")
        return()
    endif()
    list(APPEND wheel_archives ${SKITTER_ARCHIVE_${name}})
endforeach()
# turbojpeg's archive cannot go into a shared library: the file itself goes into the wheel, beside libskitter.
find_library(SKITTER_TURBOJPEG_SHARED NAMES libturbojpeg.so.0)
if(NOT SKITTER_TURBOJPEG_SHARED)
    message(STATUS "The Python package is left out: there is no libturbojpeg.so.0")
    return()
endif()
set(wheel_shared_archives ${wheel_archives})
list(TRANSFORM wheel_shared_archives REPLACE "^.*/libturbojpeg\\.a$" "${SKITTER_TURBOJPEG_SHARED}")
set(wheel_system
    -Wl,-Bstatic -lstdc++ -lgcc_eh -Wl,-Bdynamic -static-libgcc Threads::Threads ${CMAKE_DL_LIBS} m)
set(wheel_folder ${CMAKE_BINARY_DIR}/wheel)

# Targets linked with archives only: none of the shared libraries that the objects' own targets name.
add_library(skitter_wheel_shared SHARED $<TARGET_OBJECTS:skitter_objects> ${CMAKE_SOURCE_DIR}/python/wheel_streams.c)
set_target_properties(skitter_wheel_shared PROPERTIES OUTPUT_NAME skitter SOVERSION ${SKITTER_SOVERSION} LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${wheel_folder} INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH OFF
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/skitter.map)
target_link_options(skitter_wheel_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/skitter.map
    -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,-s -Wl,--wrap=stdin,--wrap=stdout,--wrap=stderr)
target_link_libraries(skitter_wheel_shared PRIVATE -Wl,--start-group ${wheel_shared_archives} -Wl,--end-group ${wheel_system})

add_executable(skitter_wheel_program ${CMAKE_SOURCE_DIR}/src/cli/main.c)
sk_target(skitter_wheel_program)
set_target_properties(skitter_wheel_program PROPERTIES OUTPUT_NAME skitter RUNTIME_OUTPUT_DIRECTORY ${wheel_folder}
    INSTALL_RPATH "" INSTALL_RPATH_USE_LINK_PATH OFF)
add_dependencies(skitter_wheel_program skitter_cli skitter_ros skitter_server skitter_static)
target_link_options(skitter_wheel_program PRIVATE -Wl,-s)
target_link_libraries(skitter_wheel_program PRIVATE $<TARGET_FILE:skitter_cli> $<TARGET_FILE:skitter_ros>
    $<TARGET_FILE:skitter_server> $<TARGET_FILE:skitter_static>
    -Wl,--start-group ${wheel_archives} -Wl,--end-group ${wheel_system})

sk_python_module(skitter_python skitter_wheel_shared)
set_target_properties(skitter_python PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${wheel_folder} INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH OFF)
target_link_options(skitter_python PRIVATE -Wl,-s)

add_custom_target(wheel
    COMMAND ${python_found} -B ${CMAKE_SOURCE_DIR}/python/build_wheel.py --source ${CMAKE_SOURCE_DIR} --binaries ${wheel_folder}
        --module $<TARGET_FILE_NAME:skitter_python>
        --library ${SKITTER_TURBOJPEG_SHARED} --out ${CMAKE_BINARY_DIR}/dist
    DEPENDS skitter_python skitter_wheel_program COMMENT "" VERBATIM)
