# burin_add_model(NAME SOURCE model.cpp BATCH 16 LENGTH 128
#                 [MODEL variant] [DTYPE f32] [CPU native] [TARGET cpu nvptx] [STAGES] [OPTIONS --without burin-fuse-swiglu ...])
#
# Compiles the variant MODEL (default: the only one of SOURCE, or the one called NAME) and makes
#   NAME_model   a library of the object, with the header NAME.h in its include path
#   NAME         the program: NAME train | eval | generate | info | bench
# TARGET says what the program runs on: cpu (the default), nvptx for GPUs (nvptx:sm_80 or nvptx:sm_90a: code of one architecture alone), or a CPU and a GPU. With both the CPU's object is NAME.o and the
# GPU's NAME_cuda.o, with a header each, and the program chooses at run time.
# STAGES also writes the IR after every stage, as NAME.<number>-<stage>.mlir beside the header. OPTIONS go to the compiler as they are.
include_guard(GLOBAL)

function(burin_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STAGES" "SOURCE;BATCH;LENGTH;MODEL;DTYPE;CPU" "TARGET;OPTIONS")
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
  if(NOT DEFINED arg_TARGET)
    set(arg_TARGET cpu)
  endif()
  set(devices ${arg_TARGET})
  list(REMOVE_ITEM devices cpu)
  list(LENGTH devices num_devices)
  list(LENGTH arg_TARGET num_targets)
  set(on_cpu FALSE)
  if("cpu" IN_LIST arg_TARGET)
    set(on_cpu TRUE)
  endif()
  if(num_targets EQUAL 0 OR num_devices GREATER 1 OR num_targets GREATER 2 OR (num_targets EQUAL 2 AND num_devices EQUAL 0)
     OR NOT "${devices}" MATCHES "^(nvptx(:sm_[0-9]+a?)?)?$")
    message(FATAL_ERROR "burin_add_model(${name}): TARGET must be cpu, nvptx (or nvptx:sm_80, nvptx:sm_90a), or a CPU and a GPU, not '${arg_TARGET}'")
  endif()
  if(DEFINED arg_CPU AND NOT on_cpu)
    message(FATAL_ERROR "burin_add_model(${name}): CPU says nothing where TARGET is ${devices}")
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
  set(options --name=${name} --batch=${arg_BATCH} --length=${arg_LENGTH} --dtype=${arg_DTYPE} --out=${folder}
              --source-root=${PROJECT_SOURCE_DIR} ${arg_OPTIONS})
  if(DEFINED arg_MODEL)
    list(APPEND options --model=${arg_MODEL})
  endif()
  if(arg_STAGES)
    list(APPEND options --stages)
  endif()
  set(symbols)
  foreach(target ${arg_TARGET})
    set(symbol ${name})
    set(machine --cpu=${arg_CPU})
    if(NOT target STREQUAL "cpu")
      set(machine --target=${target})
      if(on_cpu)
        set(symbol ${name}_cuda)
        list(APPEND machine --symbol=${symbol})
      endif()
    endif()
    add_custom_command(
      OUTPUT ${folder}/${symbol}.o ${folder}/${symbol}.h
      COMMAND ${generator} ${options} ${machine}
      DEPENDS ${generator} Burin::generator
      COMMENT "compiling the model ${symbol}"
      VERBATIM)
    if(target STREQUAL "cpu" OR NOT on_cpu)
      set(first_machine ${machine})
    endif()
    list(APPEND symbols ${symbol})
  endforeach()
  # The compiler's command line as a program, for other options at a prompt: `NAME_compile --out=there --stages --table`.
  list(APPEND options ${first_machine})
  list(JOIN options "\" \"" quoted)
  file(GENERATE OUTPUT ${folder}/${name}_compile
       CONTENT "#!/bin/sh\nexec \"$<TARGET_FILE:${generator}>\" \"${quoted}\" \"$@\"\n"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  add_custom_target(burin_compiler_of_${name} DEPENDS ${generator})

  set(files)
  set(includes)
  set(models)
  foreach(symbol ${symbols})
    list(APPEND files ${folder}/${symbol}.o ${folder}/${symbol}.h)
    string(APPEND includes "#include \"${symbol}.h\"\n")
    list(APPEND models "&${symbol}_model")
    set_source_files_properties(${folder}/${symbol}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  endforeach()
  list(JOIN models ", " models)
  if(num_targets EQUAL 2)
    set(model "{${models}}")
  else()
    set(model ${name}_model)
  endif()
  file(CONFIGURE OUTPUT ${name}_main.cpp CONTENT [[
// The program of the model @name@.
@includes@#include "cli/cli.h"

int main(int argc, char **argv) { return burin::cliMain(@model@, argc, argv); }
]] @ONLY)
  add_library(${name}_model STATIC ${files})
  set_target_properties(${name}_model PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name}_model INTERFACE ${folder})
  target_link_libraries(${name}_model PUBLIC Burin::runtime m)
  add_executable(${name} ${folder}/${name}_main.cpp)
  target_link_libraries(${name} PRIVATE ${name}_model Burin::cli)
endfunction()
