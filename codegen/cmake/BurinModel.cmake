# burin_add_model(NAME SOURCE model.cpp BATCH 16 LENGTH 128
#                 [MODEL variant] [DTYPE f32] [CPU native] [STAGES] [OPTIONS --without burin-fuse-swiglu ...])
#
# Compiles the variant MODEL (default: the only one of SOURCE, or the one called NAME) and makes
#   NAME_model   a library of the object, with the header NAME.h in its include path
#   NAME         the program: NAME train | eval | generate | info | bench
# STAGES also writes the IR after every stage, as NAME.<number>-<stage>.mlir beside the header. OPTIONS go to the compiler as they are.
include_guard(GLOBAL)

function(burin_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STAGES" "SOURCE;BATCH;LENGTH;MODEL;DTYPE;CPU" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "burin_add_model(${name}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  foreach(required SOURCE BATCH LENGTH)
    if(NOT DEFINED arg_${required})
      message(FATAL_ERROR "burin_add_model(${name}): ${required} is missing")
    endif()
  endforeach()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "burin_add_model(${name}): the name must be a C name, since the exported symbol is called ${name}_model")
  endif()
  foreach(number BATCH LENGTH)
    if(NOT arg_${number} MATCHES "^[1-9][0-9]*$")
      message(FATAL_ERROR "burin_add_model(${name}): ${number} must be a positive number, not '${arg_${number}}'")
    endif()
  endforeach()
  if(NOT DEFINED arg_DTYPE)
    set(arg_DTYPE f32)
  endif()
  if(NOT arg_DTYPE MATCHES "^(f32|bf16)$")
    message(FATAL_ERROR "burin_add_model(${name}): DTYPE must be f32 or bf16, not '${arg_DTYPE}'")
  endif()
  if(NOT DEFINED arg_CPU)
    set(arg_CPU native)
  endif()
  get_filename_component(source "${arg_SOURCE}" ABSOLUTE)
  if(NOT EXISTS "${source}")
    message(FATAL_ERROR "burin_add_model(${name}): there is no source '${source}'")
  endif()

  # One generator serves all variants of a source at one batch and length: the declaration is checked by the C++ compiler just once.
  string(SHA256 hash "${source} ${arg_BATCH} ${arg_LENGTH}")
  string(SUBSTRING "${hash}" 0 8 hash)
  get_filename_component(stem "${source}" NAME_WE)
  set(generator burin_generate_${stem}_${hash})
  if(NOT TARGET ${generator})
    add_executable(${generator} "${source}")
    target_link_libraries(${generator} PRIVATE Burin::generator_main Burin::constexpr_limits)
    target_compile_definitions(${generator} PRIVATE BURIN_BATCH=${arg_BATCH} BURIN_LENGTH=${arg_LENGTH})
    # Places are told relative to the project, those in Burin's own layers as dsl/nn/...
    get_property(burin_root GLOBAL PROPERTY BURIN_ROOT)
    # It declares one graph: compiling it takes longer than running it.
    target_compile_options(${generator} PRIVATE -O0 -U_FORTIFY_SOURCE)
    target_compile_options(${generator} PRIVATE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-fmacro-prefix-map=${burin_root}/=")
    if(TARGET burin_warnings)
      target_link_libraries(${generator} PRIVATE burin_warnings)
    endif()
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}")
  set(options --name=${name} --batch=${arg_BATCH} --length=${arg_LENGTH} --cpu=${arg_CPU} --dtype=${arg_DTYPE} --out=${folder}
              --source-root=${PROJECT_SOURCE_DIR} ${arg_OPTIONS})
  if(DEFINED arg_MODEL)
    list(APPEND options --model=${arg_MODEL})
  endif()
  if(arg_STAGES)
    list(APPEND options --stages)
  endif()
  add_custom_command(
    OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND ${generator} ${options}
    DEPENDS ${generator} Burin::generator
    COMMENT "compiling the model ${name}"
    VERBATIM)
  # The compiler's command line as a program, for other options at a prompt: `NAME_compile --out=there --stages --table`.
  list(JOIN options "\" \"" quoted)
  file(GENERATE OUTPUT ${folder}/${name}_compile
       CONTENT "#!/bin/sh\nexec \"$<TARGET_FILE:${generator}>\" \"${quoted}\" \"$@\"\n"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  add_custom_target(burin_compiler_of_${name} DEPENDS ${generator})

  file(CONFIGURE OUTPUT ${name}_main.cpp CONTENT [[
// The program of the model @name@.
#include "@name@.h"
#include "cli/cli.h"

int main(int argc, char **argv) { return burin::cliMain(@name@_model, argc, argv); }
]] @ONLY)
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${name}_model STATIC ${folder}/${name}.o ${folder}/${name}.h)
  set_target_properties(${name}_model PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name}_model INTERFACE ${folder})
  target_link_libraries(${name}_model PUBLIC Burin::runtime m)
  add_executable(${name} ${folder}/${name}_main.cpp)
  target_link_libraries(${name} PRIVATE ${name}_model Burin::cli)
endfunction()
