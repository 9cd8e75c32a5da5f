# SPDX-License-Identifier: Apache-2.0
# Flags every one of our own targets is compiled with: sk_target(NAME).
set(SKITTER_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wpointer-arith -Wwrite-strings -Wundef)
if(SKITTER_WERROR)
    list(APPEND SKITTER_WARNINGS -Werror)
endif()

function(sk_target name)
    target_compile_options(${name} PRIVATE ${SKITTER_WARNINGS} -ffp-contract=off -fno-math-errno)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src
        ${CMAKE_BINARY_DIR}/generated)
    if(SKITTER_FFMPEG)
        target_compile_definitions(${name} PRIVATE SKITTER_HAVE_FFMPEG=1)
    endif()
    if(SKITTER_SANITIZE)
        target_compile_options(${name} PRIVATE -fsanitize=${SKITTER_SANITIZE} -fno-omit-frame-pointer
            -fno-sanitize-recover=all)
        target_link_options(${name} PRIVATE -fsanitize=${SKITTER_SANITIZE})
    endif()
    if(SKITTER_COVERAGE)
        target_compile_options(${name} PRIVATE --coverage -fprofile-update=atomic) # threads count, too
        target_link_options(${name} PRIVATE --coverage)
    endif()
endfunction()
