# SPDX-License-Identifier: Apache-2.0
# tests/<room>/test_<thing>.c becomes the test <room>_<thing>: one cmocka program each, linked with the static
# library and tests/support.
file(GLOB support_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/support/*.c)
add_library(test_support STATIC ${support_sources})
sk_target(test_support)
target_include_directories(test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(test_support PUBLIC skitter_static PkgConfig::CMOCKA)

# tests/<room>/…/test_<thing>.<ext> → <room>_<thing>, <room>
function(sk_test_name source out_name out_room)
    get_filename_component(thing ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" thing ${thing})
    get_filename_component(room ${source} DIRECTORY)
    get_filename_component(room ${room} NAME)
    set(${out_name} ${room}_${thing} PARENT_SCOPE)
    set(${out_room} ${room} PARENT_SCOPE)
endfunction()

# In a build with sanitizers: the tests that `make test` also runs there, short ones of the rooms that handle memory
# and foreign bytes; without those that compute networks for minutes there. `make check` runs them all.
# Rooms whose tests fail when they end with memory still allocated (tests/support/test.h), also without sanitizers.
set(SKITTER_LEAKLESS_ROOMS results formats tasks runtime track eval cli app graph models base scene report background pipeline runner server
    media ros engines)
set(SKITTER_SANITIZED_ROOMS base graph formats results eval cli)
function(sk_test_labels name room)
    set(labels ${room})
    set(timeout 300)
    if(CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR) # an emulated processor, or valgrind
        set(timeout 1800)
    endif()
    if(SKITTER_SANITIZE)
        set(timeout 1800)
        if(name MATCHES "_hostile$" OR (room IN_LIST SKITTER_SANITIZED_ROOMS AND NOT name MATCHES "_(data|reference)$|^cli_(models|quantize)$"))
            list(APPEND labels sanitized)
        endif()
    endif()
    set(environment ${SKITTER_TEST_ENV})
    if(room IN_LIST SKITTER_LEAKLESS_ROOMS)
        list(APPEND environment "SKITTER_TEST_LEAKS=1")
    endif()
    # 77 = skipped with a message, where the reference data is absent.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" LABELS "${labels}" TIMEOUT ${timeout}
        SKIP_RETURN_CODE 77)
endfunction()

set(SKITTER_TEST_ENV
    "SKITTER_TEST_SOURCE=${CMAKE_SOURCE_DIR}"
    "SKITTER_TEST_BUILD=${CMAKE_BINARY_DIR}"
    "SKITTER_TEST_CC=${CMAKE_C_COMPILER}"
    "SKITTER_TEST_SANITIZE=${SKITTER_SANITIZE}"
    "SKITTER_TEST_BINARY=$<TARGET_FILE:skitter>"
    "SKITTER_PROGRAM=$<TARGET_FILE:skitter>"
    "SKITTER_TEST_DATA=${CMAKE_SOURCE_DIR}/../shared/data"
    # never the settings and caches of whoever runs the tests
    "SKITTER_CONFIG_DIR=${CMAKE_BINARY_DIR}/test_config"
    "SKITTER_ARTIFACTS=cache" # nothing is put beside the models that tests read
    "SKITTER_CACHE_DIR=${CMAKE_BINARY_DIR}/test_cache")
if(CMAKE_CROSSCOMPILING) # how tests start a program of their own
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    list(APPEND SKITTER_TEST_ENV "SKITTER_TEST_EMULATOR=${emulator}")
endif()
if(SKITTER_SANITIZE MATCHES "address")
    # clang 14 takes thread-local memory of a loaded library for that of an old C library where its address is 16 behind a page's
    # begin, reads a range out of what lies before it, and its leak check dies of that ("Tracer caught signal 11"): one run of a
    # thousand
    list(APPEND SKITTER_TEST_ENV "ASAN_OPTIONS=intercept_tls_get_addr=0")
endif()

# The C library's own checks of the heap: a write behind a block ends the test when the block is freed, memory that nobody has written
# to is not 0 by chance. Not under tools that have such checks themselves.
set(SKITTER_HEAP_ENV)
find_library(SKITTER_MALLOC_CHECKS NAMES libc_malloc_debug.so.0)
mark_as_advanced(SKITTER_MALLOC_CHECKS)
if(SKITTER_MALLOC_CHECKS AND NOT SKITTER_SANITIZE AND NOT SKITTER_COVERAGE AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(SKITTER_HEAP_ENV "LD_PRELOAD=libc_malloc_debug.so.0" "MALLOC_CHECK_=3" "MALLOC_PERTURB_=165")
else() # as there: no stock of free blocks, which would count as memory in use
    set(SKITTER_HEAP_ENV "GLIBC_TUNABLES=glibc.malloc.tcache_count=0")
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/test_*.c)
if(SKITTER_SANITIZE OR SKITTER_COVERAGE OR CMAKE_CROSSCOMPILING_EMULATOR)
    list(FILTER test_sources EXCLUDE REGEX "/test_peak_memory\\.c$") # their tools' memory is not ours
endif()
foreach(source ${test_sources})
    sk_test_name(${source} name room)
    if(room STREQUAL "kernels")
        continue() # one program of its own, in KernelTests.cmake
    endif()
    add_executable(test_${name} ${source})
    sk_target(test_${name})
    target_link_libraries(test_${name} PRIVATE test_support)
    # what looks at a test's end for memory left behind lies in an archive: asked for also where a test needs nothing else of it
    target_link_options(test_${name} PRIVATE "LINKER:-u,test_keeps_memory")
    if(room STREQUAL "cli" OR room STREQUAL "server" OR room STREQUAL "ros")
        target_link_libraries(test_${name} PRIVATE skitter_cli)
    endif()
    set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND test_${name})
    sk_test_labels(${name} ${room})
    if(NOT name MATCHES "peak_memory") # which measures memory, that of the checks included
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${SKITTER_HEAP_ENV})
    endif()
endforeach()

# Libraries that stand in for ONNX Runtime and are wrong, each in its own way.
set(fake_number 0)
foreach(kind empty no_base no_table old refuses holes idle provides crashes hangs device lacks older)
    add_library(fake_ort_${kind} MODULE ${CMAKE_SOURCE_DIR}/tests/engines/fake_ort.c)
    set_target_properties(fake_ort_${kind} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
        C_VISIBILITY_PRESET default)
    target_compile_definitions(fake_ort_${kind} PRIVATE FAKE=${fake_number})
    add_dependencies(test_engines_ort fake_ort_${kind})
    add_dependencies(test_engines_openvino fake_ort_${kind})
    add_dependencies(test_engines_ort_failures fake_ort_${kind})
    add_dependencies(test_engines_ort_told fake_ort_${kind})
    list(APPEND fake_libraries fake_ort_${kind})
    math(EXPR fake_number "${fake_number} + 1")
endforeach()

# … and one that stands in for OpenVINO.
add_library(fake_openvino MODULE ${CMAKE_SOURCE_DIR}/tests/engines/fake_openvino.c)
set_target_properties(fake_openvino PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
    C_VISIBILITY_PRESET default)
add_dependencies(test_engines_openvino_fake fake_openvino)
list(APPEND fake_libraries fake_openvino)

# … and one that stands in for NVIDIA's driver, under its name.
add_library(fake_cuda MODULE ${CMAKE_SOURCE_DIR}/tests/engines/fake_cuda.c)
set_target_properties(fake_cuda PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests
    C_VISIBILITY_PRESET default LINK_FLAGS "-Wl,-soname,libcuda.so.1")
add_dependencies(test_engines_ort fake_cuda)
add_dependencies(test_engines_ort_device fake_cuda)
add_dependencies(test_engines_ort_failures fake_cuda)

# … and its decoder, for FFmpeg: with video, and as containers have it that were given none.
foreach(place nvidia nvidia_without_video)
    add_library(fake_${place} SHARED ${CMAKE_SOURCE_DIR}/tests/media/fake_nvidia.c)
    set_target_properties(fake_${place} PROPERTIES OUTPUT_NAME cuda SOVERSION 1 C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${place})
    list(APPEND fake_libraries fake_${place})
endforeach()
add_library(fake_nvcuvid SHARED ${CMAKE_SOURCE_DIR}/tests/media/fake_nvidia.c)
set_target_properties(fake_nvcuvid PROPERTIES OUTPUT_NAME nvcuvid SOVERSION 1 C_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/nvidia)
target_compile_definitions(fake_nvcuvid PRIVATE VIDEO)
list(APPEND fake_libraries fake_nvcuvid)
add_dependencies(test_media_relay fake_nvidia fake_nvcuvid)
add_dependencies(test_media_device_frames fake_nvidia fake_nvcuvid fake_cuda)
add_dependencies(test_media_device_sources fake_nvidia fake_nvcuvid)

# Model files that attack their reader, for cli/test_hostile.sh.
add_executable(make_hostile ${CMAKE_SOURCE_DIR}/tests/cli/make_hostile.c)
sk_target(make_hostile)
target_link_libraries(make_hostile PRIVATE test_support)
set_target_properties(make_hostile PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
list(APPEND fake_libraries make_hostile)

# Bags of ROS 2 for app/test_bags.sh.
add_executable(make_bag ${CMAKE_SOURCE_DIR}/tests/app/make_bag.c)
sk_target(make_bag)
target_link_libraries(make_bag PRIVATE test_support)
set_target_properties(make_bag PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

# Engine plugins that do not fit, and one that does.
set(fake_number 0)
foreach(kind empty no_table other_version other_hash other_name holes good)
    add_library(fake_plugin_${kind} MODULE ${CMAKE_SOURCE_DIR}/tests/engines/fake_plugin.c)
    sk_target(fake_plugin_${kind})
    set_target_properties(fake_plugin_${kind} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY
        ${CMAKE_BINARY_DIR}/tests C_VISIBILITY_PRESET default)
    target_compile_definitions(fake_plugin_${kind} PRIVATE FAKE=${fake_number})
    add_dependencies(test_engines_plugin fake_plugin_${kind})
    add_dependencies(fake_plugin_${kind} skitter_border)
    math(EXPR fake_number "${fake_number} + 1")
endforeach()

# The tensorrt engine's own C with the reference executor in place of TensorRT.
file(GLOB tensorrt_engine_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/tensorrt/*.c)
add_library(fake_tensorrt MODULE ${tensorrt_engine_sources} ${CMAKE_SOURCE_DIR}/tests/engines/fake_tensorrt_shim.c)
sk_target(fake_tensorrt)
set_target_properties(fake_tensorrt PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_link_libraries(fake_tensorrt PRIVATE skitter_static)
target_link_options(fake_tensorrt PRIVATE -Wl,-Bsymbolic -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)

# The cuda engine's own C with a GPU of loops behind it.
file(GLOB gpu_plan_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/engines/cuda/*.c)
list(FILTER gpu_plan_sources EXCLUDE REGEX "plugin_entry")
foreach(name plan tiles cards attention bytes rewrites found upload peaks sleap_input crops)
    target_sources(test_engines_cuda_${name} PRIVATE ${gpu_plan_sources} ${CMAKE_SOURCE_DIR}/tests/engines/gpu_emulate.c)
endforeach()
foreach(name frames crops)
    target_sources(test_runner_device_${name} PRIVATE ${gpu_plan_sources} ${CMAKE_SOURCE_DIR}/tests/engines/gpu_emulate.c)
endforeach()
# The same as the plugin it is: what the program forwards to it is all there.
add_library(emulated_cuda MODULE ${gpu_plan_sources} ${CMAKE_SOURCE_DIR}/src/engines/cuda/plugin_entry.c
    ${CMAKE_SOURCE_DIR}/tests/engines/gpu_emulate.c)
sk_target(emulated_cuda)
set_target_properties(emulated_cuda PROPERTIES OUTPUT_NAME skitter_cuda PREFIX lib LIBRARY_OUTPUT_DIRECTORY
    ${CMAKE_BINARY_DIR}/tests/emulated)
target_link_libraries(emulated_cuda PRIVATE skitter_static)
target_link_options(emulated_cuda PRIVATE -Wl,-Bsymbolic -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
add_dependencies(test_engines_cuda_plugin emulated_cuda)
add_library(fake_driver SHARED ${CMAKE_SOURCE_DIR}/tests/engines/fake_driver.c)
set_target_properties(fake_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY
    ${CMAKE_BINARY_DIR}/tests/emulated)
add_dependencies(test_pipeline_accepts emulated_cuda fake_driver)
add_dependencies(test_runner_runner_gpus emulated_cuda fake_driver)
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/engines/gpu_emulate.c PROPERTIES COMPILE_OPTIONS "-O2")

# The formulas a second time, with products and sums fused as GPU compilers do it.
target_sources(test_tasks_formulas PRIVATE ${CMAKE_SOURCE_DIR}/tests/tasks/formulas_fused.c)
set(fused_flags -O2 -ffp-contract=fast)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND fused_flags -mfma)
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/tasks/formulas_fused.c PROPERTIES COMPILE_OPTIONS "${fused_flags}")

# Shell tests: tests/<room>/test_<thing>.sh, run with the same environment.
file(GLOB_RECURSE shell_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/test_*.sh)
if(CMAKE_CROSSCOMPILING)
    set(shell_tests "") # they start the program themselves, without the emulator
elseif(SKITTER_SANITIZE OR SKITTER_COVERAGE)
    list(FILTER shell_tests EXCLUDE REGEX "/tests/checks/") # they look at the plain build, or make such builds
endif()
foreach(source ${shell_tests})
    sk_test_name(${source} name room)
    add_test(NAME ${name} COMMAND bash ${source})
    sk_test_labels(${name} ${room})
endforeach()

# What kills a program, or makes a call of it fail, at every change of its files.
if(NOT CMAKE_CROSSCOMPILING)
    add_executable(fault_tracer ${CMAKE_SOURCE_DIR}/tests/app/fault_tracer.c)
    sk_target(fault_tracer)
    set_target_properties(fault_tracer PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()

include(cmake/KernelTests.cmake)

# The long ones: they build or run whole programs. `ctest -LE slow` leaves them out; `make test` does not.
foreach(name media_streams media_rtsp)
    if(TEST ${name})
        set_tests_properties(${name} PROPERTIES LABELS "media;slow")
    endif()
endforeach()
if(TEST app_peak_memory)
    set_tests_properties(app_peak_memory PROPERTIES LABELS "app;memory")
endif()
if(TEST app_runtimes_agree) # a minute where there are other runtimes
    set_tests_properties(app_runtimes_agree PROPERTIES LABELS "app;slow")
endif()
foreach(name ros_package ros_colcon) # they compile C++
    if(TEST ${name})
        set_tests_properties(${name} PROPERTIES LABELS "ros;slow")
    endif()
endforeach()
if(TEST app_sleap_original) # forty frames of seven cases
    set_tests_properties(app_sleap_original PROPERTIES LABELS "app;slow")
endif()
if(TEST python_wheel) # a fresh environment, and the package used in it
    set_tests_properties(python_wheel PROPERTIES LABELS "python;slow" TIMEOUT 600)
endif()
foreach(name checks_sanitizers checks_fuzzers checks_install)
    if(TEST ${name})
        set_tests_properties(${name} PROPERTIES LABELS "checks;slow" RUN_SERIAL ON TIMEOUT 900)
    endif()
endforeach()

if(NOT SKITTER_FUZZ)
    include(cmake/FuzzReplay.cmake)
endif()

# Programs for measuring, built on demand: ninja net_loop.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c ${CMAKE_SOURCE_DIR}/bench/track/*.c)
foreach(source ${bench_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    sk_target(${name})
    target_link_libraries(${name} PRIVATE skitter_static)
endforeach()

# Messages of ROS 2 as files, for the double of rclcpp that the nodes of generated packages are run with.
if(NOT CMAKE_CROSSCOMPILING)
    add_executable(ros_msg_texts ${CMAKE_SOURCE_DIR}/tests/ros/ros_msg_texts.c)
    sk_target(ros_msg_texts)
    target_link_libraries(ros_msg_texts PRIVATE skitter_static)
    set_target_properties(ros_msg_texts PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
