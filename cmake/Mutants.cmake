# SPDX-License-Identifier: Apache-2.0
# What `make mutants` builds (tests/mutants/): the rooms as shared libraries, each block of which says when it runs.
foreach(part skitter_objects skitter_server skitter_ros skitter_cli)
    target_compile_options(${part} PRIVATE -fsanitize-coverage=trace-pc-guard,pc-table,no-prune)
endforeach()
sk_target(skitter_static)
target_sources(skitter_static PRIVATE ${CMAKE_SOURCE_DIR}/tests/mutants/reach.c)
# The installed library is not what tests are linked with, and the coverage's functions are not in it.
set_target_properties(skitter_shared PROPERTIES EXCLUDE_FROM_ALL ON)
foreach(part skitter_static skitter_server skitter_ros skitter_cli)
    target_link_options(${part} PRIVATE -fuse-ld=lld)
endforeach()
