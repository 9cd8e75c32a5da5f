# SPDX-License-Identifier: Apache-2.0
# fuzz/fuzz_<thing>.c with fuzz/seeds/<thing>/ becomes the libFuzzer program fuzz_<thing>.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/fuzz_*.c)
target_compile_options(skitter_objects PRIVATE -fsanitize=fuzzer-no-link)
target_compile_options(skitter_server PRIVATE -fsanitize=fuzzer-no-link)
target_compile_options(skitter_ros PRIVATE -fsanitize=fuzzer-no-link)
foreach(source ${fuzz_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source} ${CMAKE_SOURCE_DIR}/fuzz/mutate.c ${CMAKE_SOURCE_DIR}/fuzz/use_model.c
        ${CMAKE_SOURCE_DIR}/fuzz/use_bag.c)
    sk_target(${name})
    target_compile_definitions(${name} PRIVATE "SK_FUZZ_FIXTURES=\"${CMAKE_SOURCE_DIR}/tests/fixtures\"")
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${name} PRIVATE skitter_static)
    if(name MATCHES "^fuzz_(http|manifest|node_requests)$")
        target_link_libraries(${name} PRIVATE skitter_cli)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endforeach()

# What `make test` builds with sanitizers: the fuzzers, and the tests of SKITTER_SANITIZED_ROOMS and those of hostile files.
add_custom_target(sanitized DEPENDS skitter)
add_dependencies(sanitized ${fake_libraries}) # cli/test_runtimes.sh loads them, cli/test_hostile.sh starts one
foreach(source ${fuzz_sources})
    get_filename_component(name ${source} NAME_WE)
    add_dependencies(sanitized ${name})
endforeach()
foreach(source ${test_sources})
    sk_test_name(${source} name room)
    if((name MATCHES "_hostile$" OR room IN_LIST SKITTER_SANITIZED_ROOMS) AND TARGET test_${name})
        add_dependencies(sanitized test_${name})
    endif()
endforeach()
