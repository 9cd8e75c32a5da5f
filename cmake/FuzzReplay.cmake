# SPDX-License-Identifier: Apache-2.0
# Where the fuzzers themselves are not built: each target as a plain program that replays fuzz/seeds/<thing>/ as the
# test fuzz_<thing>.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(source ${fuzz_sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" thing ${name})
    add_executable(${name} ${source} ${CMAKE_SOURCE_DIR}/fuzz/replay.c ${CMAKE_SOURCE_DIR}/fuzz/mutate.c
        ${CMAKE_SOURCE_DIR}/fuzz/use_model.c ${CMAKE_SOURCE_DIR}/fuzz/use_bag.c)
    sk_target(${name})
    target_compile_definitions(${name} PRIVATE "SK_FUZZ_FIXTURES=\"${CMAKE_SOURCE_DIR}/tests/fixtures\"")
    target_link_libraries(${name} PRIVATE skitter_static)
    if(name MATCHES "^fuzz_(http|manifest|node_requests)$")
        target_link_libraries(${name} PRIVATE skitter_cli)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    if(EXISTS ${CMAKE_SOURCE_DIR}/fuzz/seeds/${thing})
        add_test(NAME ${name} COMMAND ${name} ${CMAKE_SOURCE_DIR}/fuzz/seeds/${thing})
    else()
        add_test(NAME ${name} COMMAND ${name})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "fuzz" TIMEOUT 300)
endforeach()
