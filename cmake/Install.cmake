# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
install(TARGETS skitter skitter_shared skitter_static)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/skitter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(EXISTS ${CMAKE_SOURCE_DIR}/share/models) # the demo's; docs/demo.md
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/models DESTINATION ${CMAKE_INSTALL_DATADIR}/skitter
        PATTERN "*.skitter.json" EXCLUDE)
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/skitter.pc.in ${CMAKE_BINARY_DIR}/skitter.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/skitter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(NOT CMAKE_CROSSCOMPILING)
    install(FILES ${skitter_pages}/skitter.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${skitter_pages}/skitter.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME skitter)
    install(FILES ${skitter_pages}/_skitter DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
