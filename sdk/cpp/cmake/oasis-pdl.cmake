# Code from PDL files while a program is built.
#
#   oasis_pdl_generate(target file.pdl [more.pdl …] [LANG cpp|c] [DEPENDS included.pdl …])
#
# makes one header, called like the first file: `#include "file.hpp"` in sources of the target, or with LANG c `#include "file.h"`.
# All files of one target belong in one call. DEPENDS names what they include: a change there makes the header anew.

function(oasis_pdl_generate target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LANG" "DEPENDS")
  if(NOT arg_LANG OR arg_LANG STREQUAL "cpp")
    set(arg_LANG cpp)
    set(ending hpp)
  elseif(arg_LANG STREQUAL "c")
    set(ending h)
  else()
    message(FATAL_ERROR "oasis_pdl_generate(${target}) has LANG ${arg_LANG}: it can be cpp or c")
  endif()
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "oasis_pdl_generate(${target}) names no PDL file")
  endif()
  if(NOT OASIS_PROGRAM)
    message(FATAL_ERROR "oasis_pdl_generate(${target}) needs the program oasis: set OASIS_PROGRAM to where it is")
  endif()

  set(files "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  set(included "")
  foreach(file IN LISTS arg_DEPENDS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND included "${file}")
  endforeach()

  list(GET files 0 first)
  get_filename_component(name "${first}" NAME_WE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.pdl")
  add_custom_command(
    OUTPUT "${folder}/${name}.${ending}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    COMMAND "${OASIS_PROGRAM}" pdl compile --lang ${arg_LANG} -o "${folder}" ${files}
    # The compiler leaves a header alone that would not change; it is up to date all the same.
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/${name}.${ending}"
    DEPENDS ${files} ${included} "${OASIS_PROGRAM}"
    COMMENT "Compiling ${name}.pdl"
    VERBATIM)
  target_sources(${target} PRIVATE "${folder}/${name}.${ending}")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
