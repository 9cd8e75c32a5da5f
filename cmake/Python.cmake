# SPDX-License-Identifier: Apache-2.0
# The Python package: a module over libskitter (docs/python.md). It goes into a wheel (cmake/Wheel.cmake), or, for distributions that
# name a folder for it, over the libskitter that is installed beside it.
option(SKITTER_PYTHON "Build the Python package's binaries where Python's headers are" ON)
set(SKITTER_PYTHON_PROGRAM "" CACHE STRING "The Python whose headers are used; empty: Debian's, or the first there is")
set(SKITTER_PYTHON_SITE "" CACHE STRING
    "Folder under the prefix, or with its whole path, that installs the Python package over libskitter; empty: only the wheel")
mark_as_advanced(SKITTER_PYTHON_PROGRAM SKITTER_PYTHON_SITE)
if(NOT SKITTER_PYTHON OR SKITTER_SANITIZE OR SKITTER_COVERAGE OR CMAKE_CROSSCOMPILING OR NOT SKITTER_FFMPEG)
    return()
endif()

foreach(python ${SKITTER_PYTHON_PROGRAM} /usr/bin/python3 python3)
    execute_process(COMMAND ${python} -c
            "import sysconfig as s; print(s.get_paths()['include'], 1 if s.get_config_var('Py_GIL_DISABLED') else 0, s.get_config_var('EXT_SUFFIX'))"
        OUTPUT_VARIABLE python_says OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed EQUAL 0)
        separate_arguments(python_says)
        list(GET python_says 0 python_include)
        list(GET python_says 1 python_free_threaded)
        list(GET python_says 2 python_suffix)
        if(EXISTS ${python_include}/Python.h)
            set(python_found ${python})
            break()
        endif()
    endif()
endforeach()
if(NOT python_found)
    if(SKITTER_PYTHON_SITE)
        message(FATAL_ERROR "SKITTER_PYTHON_SITE asks for the Python package, but there is no Python.h (Debian: python3-dev)")
    endif()
    message(STATUS "The Python package is left out: there is no Python.h (Debian: python3-dev)")
    return()
endif()

file(GLOB python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/src/*.c)
if(NOT python_free_threaded)
    set(python_suffix .abi3.so)
endif()
function(sk_python_module name library)
    add_library(${name} MODULE ${python_sources})
    sk_target(${name})
    # slots of classes are functions behind void pointers, names of arguments are no constants: so it is in CPython
    target_compile_options(${name} PRIVATE -Wno-pedantic -Wno-write-strings)
    target_include_directories(${name} SYSTEM PRIVATE ${python_include})
    if(python_free_threaded)
        target_compile_definitions(${name} PRIVATE SKITTER_PYTHON_WHOLE=1)
    endif()
    set_target_properties(${name} PROPERTIES OUTPUT_NAME _native PREFIX "" SUFFIX ${python_suffix})
    target_link_options(${name} PRIVATE -Wl,-z,now)
    target_link_libraries(${name} PRIVATE ${library})
endfunction()

if(SKITTER_PYTHON_SITE)
    sk_python_module(skitter_python_installed skitter_shared)
    set_target_properties(skitter_python_installed PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python)
    set(python_info ${CMAKE_BINARY_DIR}/python/skitter-${PROJECT_VERSION}.dist-info)
    add_custom_command(OUTPUT ${python_info}/METADATA
        COMMAND ${python_found} -B ${CMAKE_SOURCE_DIR}/python/metadata.py --source ${CMAKE_SOURCE_DIR} --out ${python_info}/METADATA
        DEPENDS ${CMAKE_SOURCE_DIR}/python/metadata.py ${CMAKE_SOURCE_DIR}/VERSION ${CMAKE_SOURCE_DIR}/docs/python.md
        COMMENT "" VERBATIM)
    add_custom_target(skitter_python_info ALL DEPENDS ${python_info}/METADATA)
    install(TARGETS skitter_python_installed LIBRARY DESTINATION ${SKITTER_PYTHON_SITE}/skitter)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/skitter DESTINATION ${SKITTER_PYTHON_SITE}
        FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
    install(DIRECTORY ${python_info} DESTINATION ${SKITTER_PYTHON_SITE})
    return()
endif()
include(cmake/Wheel.cmake)
