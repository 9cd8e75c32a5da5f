# SPDX-License-Identifier: Apache-2.0
# tests/<room>/test_<thing>.c becomes the test <room>_<thing>: one cmocka program each, linked with the static
# library and tests/support.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB support_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
add_library(test_support STATIC ${support_sources})
sk_target(test_support)
target_include_directories(test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(test_support PUBLIC skitter_static PkgConfig::CMOCKA)

set(SKITTER_TEST_ENV
    "SKITTER_TEST_SOURCE=${CMAKE_SOURCE_DIR}"
    "SKITTER_TEST_BINARY=$<TARGET_FILE:skitter>"
    "SKITTER_TEST_DATA=${CMAKE_SOURCE_DIR}/../shared/data")

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/test_*.c)
foreach(source ${test_sources})
    get_filename_component(thing ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" thing ${thing})
    get_filename_component(room ${source} DIRECTORY)
    get_filename_component(room ${room} NAME)
    set(name ${room}_${thing})
    if(room STREQUAL "kernels")
        continue() # one program of its own, in KernelTests.cmake
    endif()
    add_executable(test_${name} ${source})
    sk_target(test_${name})
    target_link_libraries(test_${name} PRIVATE test_support)
    set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND test_${name})
    # 77 = skipped with a message, where the reference data is absent.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${SKITTER_TEST_ENV}" LABELS "${room}" TIMEOUT 300
        SKIP_RETURN_CODE 77)
endforeach()

# Shell tests: tests/<room>/test_<thing>.sh, run with the same environment.
file(GLOB_RECURSE shell_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/test_*.sh)
foreach(source ${shell_tests})
    get_filename_component(thing ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" thing ${thing})
    get_filename_component(room ${source} DIRECTORY)
    get_filename_component(room ${room} NAME)
    add_test(NAME ${room}_${thing} COMMAND bash ${source})
    set_tests_properties(${room}_${thing} PROPERTIES ENVIRONMENT "${SKITTER_TEST_ENV}" LABELS "${room}" TIMEOUT 300
        SKIP_RETURN_CODE 77)
endforeach()

include(cmake/KernelTests.cmake)
