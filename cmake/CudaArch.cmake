# SPDX-License-Identifier: Apache-2.0
# What nvcc is asked for: sk_cuda_arch(OUT WISH KNOWN). WISH: one kind of GPU (90a), several by commas, or all: machine code for
# every kind the kernels are made for, as far as nvcc knows it (KNOWN: its --list-gpu-arch), and PTX for those between and after.
cmake_policy(VERSION 3.20)
function(sk_cuda_arch out wish known)
    set(flags "")
    if(wish STREQUAL "all")
        # A100; RTX 30; RTX 40, L4; H100, H200; B200; RTX 50. Others of the same first digit run what their elder does.
        foreach(arch 80 86 89 90a 100 120)
            string(REGEX REPLACE "a$" "" base ${arch})
            if("compute_${base}" IN_LIST known)
                list(APPEND flags -gencode=arch=compute_${arch},code=sm_${arch})
            endif()
        endforeach()
        if("compute_90" IN_LIST known)
            list(APPEND flags -gencode=arch=compute_90,code=compute_90)
        endif()
    else()
        string(REPLACE "," ";" names "${wish}")
        foreach(arch ${names})
            list(APPEND flags -gencode=arch=compute_${arch},code=sm_${arch})
        endforeach()
    endif()
    set(${out} ${flags} PARENT_SCOPE)
endfunction()

# cmake -DWISH=all -DKNOWN="compute_80;…" -P CudaArch.cmake says it.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    sk_cuda_arch(flags "${WISH}" "${KNOWN}")
    string(REPLACE ";" "\n" flags "${flags}")
    message("${flags}")
endif()
