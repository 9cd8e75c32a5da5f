# SPDX-License-Identifier: Apache-2.0
# Run at every build (cmake -P): writes build_info.h, touching it only when its content changes.
# A package's sources are no checkout: who makes it names the commit.
if("${COMMIT}" STREQUAL "")
    execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
        OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed OR COMMIT STREQUAL "")
        set(COMMIT "unknown")
    else()
        execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD -- ERROR_QUIET RESULT_VARIABLE changed)
        if(changed)
            string(APPEND COMMIT " with changes")
        endif()
    endif()
endif()
if(NOT SANITIZE STREQUAL "")
    string(APPEND BUILD_TYPE ", ${SANITIZE} sanitizer")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.h.in ${OUT} @ONLY)
