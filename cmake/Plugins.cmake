# SPDX-License-Identifier: Apache-2.0
# Engines in libraries of their own, built on demand: ninja plugin_cuda (make plugin-cuda), where nvcc is found.
option(SKITTER_PLUGINS "Offer the engine plugins whose compilers are found" ON)
set(SKITTER_CUDA_ARCH "90a" CACHE STRING "GPUs the CUDA plugin is built for: 90a (quick), several by commas, or all that nvcc knows of 80, 86, 89, 90a, 100, 120, and PTX")
find_program(SKITTER_NVCC nvcc HINTS /usr/local/cuda/bin)

if(SKITTER_PLUGINS AND SKITTER_NVCC AND NOT SKITTER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    get_filename_component(cuda_root ${SKITTER_NVCC} REALPATH)
    get_filename_component(cuda_root ${cuda_root} DIRECTORY)
    get_filename_component(cuda_root ${cuda_root} DIRECTORY)
    find_library(SKITTER_CUDART cudart_static HINTS ${cuda_root}/lib64 ${cuda_root}/targets/x86_64-linux/lib
        ${cuda_root}/lib NO_CACHE)
endif()
if(SKITTER_CUDART)
    include(cmake/CudaArch.cmake)
    execute_process(COMMAND ${SKITTER_NVCC} --list-gpu-arch OUTPUT_VARIABLE cuda_known OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" cuda_known "${cuda_known}")
    sk_cuda_arch(cuda_arch "${SKITTER_CUDA_ARCH}" "${cuda_known}")
    set(cuda_objects "")
    file(GLOB cuda_kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/cuda/*.cu)
    foreach(source ${cuda_kernels})
        get_filename_component(name ${source} NAME_WE)
        set(object ${CMAKE_BINARY_DIR}/cuda/${name}.cu.o)
        add_custom_command(OUTPUT ${object}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/cuda
            COMMAND ${SKITTER_NVCC} -std=c++17 -O3 ${cuda_arch} -I${CMAKE_SOURCE_DIR}/src -lineinfo
                -Xcompiler=-fPIC,-fvisibility=hidden,-fno-threadsafe-statics,-Wall -MD -MF ${object}.d -c ${source} -o ${object}
            DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${name}.cu" VERBATIM)
        list(APPEND cuda_objects ${object})
    endforeach()
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/cuda/*.c)
    add_library(plugin_cuda MODULE EXCLUDE_FROM_ALL ${cuda_sources} ${cuda_objects})
    sk_target(plugin_cuda)
    add_dependencies(plugin_cuda skitter_border)
    set_target_properties(plugin_cuda PROPERTIES OUTPUT_NAME skitter_cuda LINK_DEPENDS
        ${CMAKE_SOURCE_DIR}/cmake/plugin.map)
    set(cuda_libraries skitter_static ${SKITTER_CUDART} stdc++ rt)
    target_link_libraries(plugin_cuda PRIVATE ${cuda_libraries})
    target_link_options(plugin_cuda PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic -static-libstdc++ -static-libgcc
        -Wl,--gc-sections -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
    install(TARGETS plugin_cuda OPTIONAL DESTINATION ${CMAKE_INSTALL_LIBDIR})
    # Checks of the kernels on a real GPU, built on demand: ninja cuda_check.
    list(FILTER cuda_sources EXCLUDE REGEX "plugin_entry")
    add_executable(cuda_check EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/gpu/cuda_check.c
        ${CMAKE_SOURCE_DIR}/bench/gpu/model_check.c ${CMAKE_SOURCE_DIR}/bench/gpu/found_check.c
        ${CMAKE_SOURCE_DIR}/bench/gpu/sleap_check.c ${cuda_sources} ${cuda_objects})
    sk_target(cuda_check)
    target_include_directories(cuda_check PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(cuda_check PRIVATE ${cuda_libraries})
    target_link_options(cuda_check PRIVATE -static-libstdc++ -static-libgcc)
endif()

# The same sources for AMD, where hipcc is found: ninja plugin_rocm (make plugin-rocm). Kernels that are NVIDIA's instructions
# are left out. Compiled, never run.
set(SKITTER_ROCM_ARCH "gfx90a" CACHE STRING "AMD GPUs the ROCm plugin is built for, by commas: gfx90a,gfx942,gfx1100")
find_program(SKITTER_HIPCC hipcc HINTS /opt/rocm/bin)
if(SKITTER_PLUGINS AND SKITTER_HIPCC AND NOT SKITTER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    string(REPLACE "," ";" rocm_names "${SKITTER_ROCM_ARCH}")
    set(rocm_arch "")
    foreach(name ${rocm_names})
        list(APPEND rocm_arch --offload-arch=${name})
    endforeach()
    set(rocm_objects "")
    file(GLOB rocm_kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/cuda/*.cu)
    list(FILTER rocm_kernels EXCLUDE REGEX "/(conv_[a-z0-9_]*|attention|byte_kernels|map_kernels|special).cu$") # as scripts/check_rocm does
    foreach(source ${rocm_kernels})
        get_filename_component(name ${source} NAME_WE)
        set(object ${CMAKE_BINARY_DIR}/rocm/${name}.o)
        add_custom_command(OUTPUT ${object}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/rocm
            COMMAND ${SKITTER_HIPCC} -x hip -std=c++17 -O3 ${rocm_arch} -fPIC -fvisibility=hidden -ffp-contract=off
                -I${CMAKE_SOURCE_DIR}/src -MD -MF ${object}.d
                -c ${CMAKE_SOURCE_DIR}/src/engines/cuda/${name}.cu -o ${object}
            DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/cuda/${name}.cu DEPFILE ${object}.d COMMENT "hipcc ${name}.cu" VERBATIM)
        list(APPEND rocm_objects ${object})
    endforeach()
    file(GLOB rocm_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/cuda/*.c)
    find_library(SKITTER_AMDHIP amdhip64 HINTS /opt/rocm/lib NO_CACHE)
    if(SKITTER_AMDHIP)
        add_library(plugin_rocm MODULE EXCLUDE_FROM_ALL ${rocm_sources} ${rocm_objects})
        sk_target(plugin_rocm)
        add_dependencies(plugin_rocm skitter_border)
        target_compile_definitions(plugin_rocm PRIVATE GPU_FOR_ROCM=1)
        set_target_properties(plugin_rocm PROPERTIES OUTPUT_NAME skitter_rocm LINK_DEPENDS
            ${CMAKE_SOURCE_DIR}/cmake/plugin.map)
        target_link_libraries(plugin_rocm PRIVATE skitter_static ${SKITTER_AMDHIP} stdc++ rt)
        target_link_options(plugin_rocm PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic
            -Wl,--gc-sections -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
        install(TARGETS plugin_rocm OPTIONAL DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endif()

# TensorRT: its headers, and CUDA's runtime to move data. libnvinfer itself is opened at run time and not linked.
set(SKITTER_TENSORRT_ROOT "" CACHE PATH "Where TensorRT's include folder is, when the compiler does not find it")
find_path(SKITTER_TENSORRT_INCLUDE NvInfer.h HINTS ${SKITTER_TENSORRT_ROOT}/include ${SKITTER_TENSORRT_ROOT}
    /usr/local/tensorrt/include /opt/tensorrt/include /usr/include/x86_64-linux-gnu /usr/include/aarch64-linux-gnu)
if(SKITTER_CUDART AND SKITTER_TENSORRT_INCLUDE)
    enable_language(CXX)
    add_library(tensorrt_shim OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/src/engines/tensorrt/tensorrt_shim.cpp)
    set_target_properties(tensorrt_shim PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
    target_include_directories(tensorrt_shim PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_include_directories(tensorrt_shim SYSTEM PRIVATE ${SKITTER_TENSORRT_INCLUDE} ${cuda_root}/include)
    target_compile_definitions(tensorrt_shim PRIVATE _GNU_SOURCE)
    # int8 by calibration is deprecated in TensorRT 10, and the only int8 for models that are not quantised
    target_compile_options(tensorrt_shim PRIVATE -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -Wall -Wextra
        -Wno-deprecated-declarations)
    file(GLOB tensorrt_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/tensorrt/*.c)
    add_library(plugin_tensorrt MODULE EXCLUDE_FROM_ALL ${tensorrt_sources} $<TARGET_OBJECTS:tensorrt_shim>)
    sk_target(plugin_tensorrt)
    add_dependencies(plugin_tensorrt skitter_border)
    set_target_properties(plugin_tensorrt PROPERTIES OUTPUT_NAME skitter_tensorrt LINK_DEPENDS
        ${CMAKE_SOURCE_DIR}/cmake/plugin.map)
    target_link_libraries(plugin_tensorrt PRIVATE skitter_static ${SKITTER_CUDART} rt)
    target_link_options(plugin_tensorrt PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic -static-libstdc++ -static-libgcc
        -Wl,--gc-sections -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
    install(TARGETS plugin_tensorrt OPTIONAL DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# From frames to detections on the cuda runtime, whichever plugin is found: ninja cuda_bench.
add_executable(cuda_bench EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/gpu/cuda_bench.c ${CMAKE_SOURCE_DIR}/bench/gpu/edges.c)
sk_target(cuda_bench)
target_link_libraries(cuda_bench PRIVATE skitter_static)

# The same for SLEAP: ninja sleap_bench.
add_executable(sleap_bench EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/gpu/sleap_bench.c)
sk_target(sleap_bench)
target_link_libraries(sleap_bench PRIVATE skitter_static)

# Frames in every format and every kind of memory, through the public library: ninja frames_check.
add_executable(frames_check EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/bench/gpu/frames_check.c)
sk_target(frames_check)
target_link_libraries(frames_check PRIVATE skitter_static)
