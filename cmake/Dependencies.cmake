# SPDX-License-Identifier: Apache-2.0
# Debian packages only; scripts/packages.txt is the list that installs them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(TIFF REQUIRED IMPORTED_TARGET libtiff-4>=4.5)
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5) # as Debian calls it, and as others do
find_program(PROTOC_C protoc-c REQUIRED)
set(SKITTER_LIBRARIES PkgConfig::ZLIB PkgConfig::PROTOBUF_C PkgConfig::YAML PkgConfig::JANSSON
    PkgConfig::XXHASH PkgConfig::SODIUM
    PkgConfig::PNG PkgConfig::TURBOJPEG PkgConfig::JPEG PkgConfig::TIFF PkgConfig::HDF5 Threads::Threads ${CMAKE_DL_LIBS} m)
if(SKITTER_FFMPEG)
    # Headers only: the libraries are loaded when a video is opened (src/media/library_ffmpeg.h).
    pkg_check_modules(FFMPEG REQUIRED libavformat libavcodec libavutil libswscale libavdevice)
    include_directories(SYSTEM ${FFMPEG_INCLUDE_DIRS})
endif()
# Headers only, too (src/server/library_mhd.h). Without them everything is built but `skitter serve`, which then says so.
pkg_check_modules(MICROHTTPD libmicrohttpd>=0.9.70)
if(NOT MICROHTTPD_FOUND)
    message(STATUS "The page is left out: there is no libmicrohttpd (Debian: libmicrohttpd-dev)")
endif()
