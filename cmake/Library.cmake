# SPDX-License-Identifier: Apache-2.0
# libskitter (shared and static) from the rooms, and the executable from src/cli.
set(SKITTER_ROOMS base graph formats models tasks kernels engines runtime runner pipeline background track media results eval report scene app)

set(skitter_sources "")
foreach(room ${SKITTER_ROOMS})
    file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
    list(APPEND skitter_sources ${room_sources})
endforeach()
# Engines that are plugins: cmake/Plugins.cmake.
list(FILTER skitter_sources EXCLUDE REGEX "/engines/(cuda|tensorrt)/")
if(NOT SKITTER_FFMPEG)
    list(FILTER skitter_sources EXCLUDE REGEX "_ffmpeg\\.c$")
    file(GLOB_RECURSE stand_ins CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*/without_ffmpeg.c)
    list(APPEND skitter_sources ${stand_ins})
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER skitter_sources EXCLUDE REGEX "/kernels/x86/")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    list(FILTER skitter_sources EXCLUDE REGEX "/kernels/arm/")
endif()

# A kernel file's suffix names the instruction set it may use; everything else is portable x86-64 / aarch64.
function(sk_kernel_flags)
    foreach(source ${ARGN})
        if(source MATCHES "_avx512vnni\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-O3;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mfma;-mavx2;-mf16c")
        elseif(source MATCHES "_amx\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-O3;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vnni;-mavx512bf16;-mfma;-mavx2;-mf16c;-mamx-tile;-mamx-int8;-mamx-bf16")
        elseif(source MATCHES "_avx512bf16\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-O3;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512bf16;-mfma;-mavx2;-mf16c;-mprefer-vector-width=512")
        elseif(source MATCHES "_avx512\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-O3;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mfma;-mavx2;-mf16c;-mprefer-vector-width=512")
        elseif(source MATCHES "_avxvnni\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O3;-mavx2;-mfma;-mf16c;-mavxvnni")
        elseif(source MATCHES "_dotprod\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O3;-march=armv8.2-a+dotprod")
        elseif(source MATCHES "_i8mm\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O3;-march=armv8.2-a+dotprod+i8mm")
        elseif(source MATCHES "_avx2\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O3;-mavx2;-mfma;-mf16c")
        elseif(source MATCHES "_sse42\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O3;-msse4.2")
        elseif(source MATCHES "/src/tasks/|/src/track/|/src/graph/ref_|/src/scene/")
            # Plain loops over pixels and candidates, written for the compiler to vectorise.
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O3")
        endif()
        # Undefined-behaviour checks in fully unrolled kernels cost compilers minutes a file; the address sanitizer stays,
        # and the kernel harness checks every result and guards every buffer.
        if(SKITTER_SANITIZE MATCHES "undefined" AND source MATCHES "/kernels/(x86|arm)/")
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "-fno-sanitize=undefined")
            if(SKITTER_FUZZ)
                set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "-fno-sanitize=fuzzer-no-link")
            endif()
        endif()
    endforeach()
endfunction()
sk_kernel_flags(${skitter_sources})
include(GNUInstallDirs)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/engines/plugin.c PROPERTIES COMPILE_DEFINITIONS
    "SKITTER_LIBDIR=\"${CMAKE_INSTALL_FULL_LIBDIR}\"")

# ONNX's wire format, from our own schema file.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
set(skitter_generated "")
if(EXISTS ${CMAKE_SOURCE_DIR}/src/formats/onnx.proto)
    set(onnx_pb ${CMAKE_BINARY_DIR}/generated/onnx.pb-c)
    add_custom_command(OUTPUT ${onnx_pb}.c ${onnx_pb}.h
        COMMAND ${PROTOC_C} --c_out=${CMAKE_BINARY_DIR}/generated --proto_path=${CMAKE_SOURCE_DIR}/src/formats
            ${CMAKE_SOURCE_DIR}/src/formats/onnx.proto
        DEPENDS ${CMAKE_SOURCE_DIR}/src/formats/onnx.proto VERBATIM)
    list(APPEND skitter_generated ${onnx_pb}.c)
    set_source_files_properties(${onnx_pb}.c PROPERTIES COMPILE_OPTIONS "-w")
endif()

set(SKITTER_COMMIT "" CACHE STRING "The commit that --version names; empty: the checkout's")
# Commit and compiler for --version. Looked up at every build; the header changes only when they do.
add_custom_target(skitter_build_info BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/build_info.h
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${CMAKE_BINARY_DIR}/generated/build_info.h
        "-DCOMMIT=${SKITTER_COMMIT}" -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE} "-DSANITIZE=${SKITTER_SANITIZE}"
        "-DCOMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
        "-DSYSTEM=${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}" -P ${CMAKE_SOURCE_DIR}/cmake/BuildInfo.cmake
    COMMENT "" VERBATIM)

# What the program and engine plugins must agree on, likewise.
add_custom_target(skitter_border BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/border_hash.h
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUT=${CMAKE_BINARY_DIR}/generated/border_hash.h
        -P ${CMAKE_SOURCE_DIR}/cmake/Border.cmake
    COMMENT "" VERBATIM)

add_library(skitter_objects OBJECT ${skitter_sources} ${skitter_generated})
sk_target(skitter_objects)
add_dependencies(skitter_objects skitter_border)
target_link_libraries(skitter_objects PUBLIC ${SKITTER_LIBRARIES})

# Tests see internal symbols, so they link the static library.
set(SKITTER_PART STATIC)
set(SKITTER_PART_NAME skitter)
if(SKITTER_MUTANTS) # cmake/Mutants.cmake
    set(SKITTER_PART SHARED)
    set(SKITTER_PART_NAME skitter_rooms)
endif()
add_library(skitter_static ${SKITTER_PART} $<TARGET_OBJECTS:skitter_objects>)
set_target_properties(skitter_static PROPERTIES OUTPUT_NAME ${SKITTER_PART_NAME})
target_link_libraries(skitter_static PUBLIC ${SKITTER_LIBRARIES})
if(SKITTER_FFMPEG)
    target_compile_definitions(skitter_static PUBLIC SKITTER_HAVE_FFMPEG=1)
endif()

add_library(skitter_shared SHARED $<TARGET_OBJECTS:skitter_objects>)
sk_target(skitter_shared)
# What must be the same for a program to go on with another libskitter.so: before 1.0 the first two numbers (scripts/abi).
set(SKITTER_SOVERSION ${PROJECT_VERSION_MAJOR})
if(SKITTER_SOVERSION EQUAL 0)
    set(SKITTER_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(skitter_shared PROPERTIES OUTPUT_NAME skitter VERSION ${PROJECT_VERSION}
    SOVERSION ${SKITTER_SOVERSION} LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/skitter.map)
target_link_options(skitter_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/skitter.map)
if(NOT SKITTER_SANITIZE) # the sanitizers' own functions come with the program
    target_link_options(skitter_shared PRIVATE -Wl,--no-undefined)
endif()
target_link_libraries(skitter_shared PRIVATE ${SKITTER_LIBRARIES})

# The page: a library of its own, so that libskitter needs no HTTP. Its files are compiled in.
file(GLOB_RECURSE server_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/server/*.c)
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/server/page/*)
if(NOT MICROHTTPD_FOUND)
    list(FILTER server_sources EXCLUDE REGEX "_mhd\\.c$")
    file(GLOB stand_ins CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/server/without_mhd.c)
    list(APPEND server_sources ${stand_ins})
    list(REMOVE_DUPLICATES server_sources)
endif()
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/generated/page_files.c
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR}/src/server/page
        -DOUT=${CMAKE_BINARY_DIR}/generated/page_files.c -P ${CMAKE_SOURCE_DIR}/cmake/Page.cmake
    DEPENDS ${page_files} ${CMAKE_SOURCE_DIR}/cmake/Page.cmake COMMENT "" VERBATIM)
add_library(skitter_server ${SKITTER_PART} ${server_sources} ${CMAKE_BINARY_DIR}/generated/page_files.c)
sk_target(skitter_server)
if(MICROHTTPD_FOUND)
    target_compile_definitions(skitter_server PRIVATE SKITTER_HAVE_MHD=1)
    target_include_directories(skitter_server SYSTEM PRIVATE ${MICROHTTPD_INCLUDE_DIRS})
endif()
target_link_libraries(skitter_server PUBLIC skitter_static)

# ROS 2: a library of its own for the program. What lies in share/ros/ is compiled in.
file(GLOB_RECURSE ros_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ros/*.c)
file(GLOB_RECURSE ros_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/ros/*)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/generated/ros_files.c
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR}/share/ros -DOUT=${CMAKE_BINARY_DIR}/generated/ros_files.c
        -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${ros_files} ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake COMMENT "" VERBATIM)
add_library(skitter_ros ${SKITTER_PART} ${ros_sources} ${CMAKE_BINARY_DIR}/generated/ros_files.c)
sk_target(skitter_ros)
target_link_libraries(skitter_ros PUBLIC skitter_server)

# The doors print and parse arguments; they use internal headers of app/ and below, hence the static library.
# Everything but main.c is a library of its own, so that tests/cli can call it.
file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.c)
list(REMOVE_ITEM cli_sources ${CMAKE_SOURCE_DIR}/src/cli/main.c)
add_library(skitter_cli ${SKITTER_PART} ${cli_sources})
sk_target(skitter_cli)
add_dependencies(skitter_cli skitter_build_info)
target_link_libraries(skitter_cli PUBLIC skitter_ros)
add_executable(skitter ${CMAKE_SOURCE_DIR}/src/cli/main.c)
sk_target(skitter)
target_link_libraries(skitter PRIVATE skitter_cli)

# The manual and the completions are made by the program itself, from the same tables as its --help.
if(NOT CMAKE_CROSSCOMPILING)
    set(skitter_pages ${CMAKE_BINARY_DIR}/pages)
    add_custom_command(OUTPUT ${skitter_pages}/skitter.1 ${skitter_pages}/skitter.bash ${skitter_pages}/_skitter
        COMMAND ${CMAKE_COMMAND} -E make_directory ${skitter_pages}
        COMMAND skitter man > ${skitter_pages}/skitter.1
        COMMAND skitter completion bash > ${skitter_pages}/skitter.bash
        COMMAND skitter completion zsh > ${skitter_pages}/_skitter
        DEPENDS skitter COMMENT "Writing the manual and the completions" VERBATIM)
    add_custom_target(skitter_pages ALL DEPENDS ${skitter_pages}/skitter.1)
endif()
