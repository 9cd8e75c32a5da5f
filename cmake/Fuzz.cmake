# SPDX-License-Identifier: Apache-2.0
# fuzz/fuzz_<thing>.c with fuzz/seeds/<thing>/ becomes the libFuzzer program fuzz_<thing>.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/fuzz_*.c)
target_compile_options(skitter_objects PRIVATE -fsanitize=fuzzer-no-link)
foreach(source ${fuzz_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    sk_target(${name})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${name} PRIVATE skitter_static)
endforeach()
