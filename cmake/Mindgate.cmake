# Helpers that every folder's target shares.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE) # cmake/Static.cmake has code of programs instead
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

option(MINDGATE_WERROR "Treat warnings as errors" ON)
option(MINDGATE_PCH "Precompile the largest headers (halves the build; lint builds without it)" ON)
option(MINDGATE_UNITY "Compile the files of a folder in a few batches: a third of the time, but a change of one file compiles its batch" OFF)
set(MINDGATE_SANITIZE "" CACHE STRING "Value of -fsanitize, empty for none")

# Some batches a folder, so that two cores have work, and a compiler needs up to 2.5 GB for one, and 3.3 GB with ASan.
set(CMAKE_UNITY_BUILD ${MINDGATE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)

function(mindgate_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In KB. It collects garbage of its own from there on, which took an eighth of the time.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1048576)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Both misfire on std::string's operator+ when optimising (GCC bugs 105329 and 105651).
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overread -Wno-stringop-overflow -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # What a mutex guards is declared (base/threads.h). libstdc++ 12 itself calls what it marks as deprecated, in std::stable_sort.
    target_compile_options(${target} PRIVATE -Wthread-safety -Wno-deprecated-declarations)
  endif()
  if(MINDGATE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In a batch, a .cc file counts as a header that hides what it shows.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  if(MINDGATE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(MINDGATE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${MINDGATE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_definitions(${target} PRIVATE MINDGATE_SANITIZED)
    target_link_options(${target} PRIVATE -fsanitize=${MINDGATE_SANITIZE})
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT MINDGATE_SANITIZE)
    # Not -D_GLIBCXX_ASSERTIONS: a decision costs 3 to 4 % more with it (engine_bench at 10 and 60 KB, the least of six runs in turns).
    target_compile_options(${target} PRIVATE -fstack-protector-strong -D_FORTIFY_SOURCE=3 -ffunction-sections -fdata-sections)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now -Wl,--gc-sections)
  endif()
endfunction()

# mindgate_precompile(TARGET HEADERS ...): the JSON header and these, for this target alone.
# mindgate_precompile(TARGET SHARED NAME): those of a mindgate_shared_headers, whose compile options must be the target's.
function(mindgate_precompile target)
  cmake_parse_arguments(ARG "" "SHARED" "HEADERS" ${ARGN})
  if(MINDGATE_PCH AND ARG_SHARED)
    target_precompile_headers(${target} REUSE_FROM ${ARG_SHARED})
  elseif(MINDGATE_PCH)
    target_precompile_headers(${target} PRIVATE <nlohmann/json.hpp> <string> <vector> <map> <functional> ${ARG_HEADERS})
  endif()
endfunction()

# mindgate_shared_headers(NAME HEADERS ... DEPS ... OPTIONS ...): a target that holds precompiled headers and nothing else.
function(mindgate_shared_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPS;OPTIONS" ${ARGN})
  if(NOT MINDGATE_PCH)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} nlohmann_json::nlohmann_json)
  mindgate_compile_options(${name})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  mindgate_precompile(${name} HEADERS ${ARG_HEADERS})
endfunction()

# mindgate_library(FOLDER DEPS ... PRIVATE_DEPS ... EXCLUDE ... HEADERS ...): one static library for one folder. HEADERS are
# precompiled for it alone.
function(mindgate_library folder)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE_DEPS;EXCLUDE;HEADERS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  foreach(name IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "/${name}$")
  endforeach()
  add_library(mindgate_${folder} STATIC ${sources})
  target_include_directories(mindgate_${folder} PUBLIC ${CMAKE_SOURCE_DIR})
  foreach(dep IN LISTS ARG_DEPS)
    if(TARGET mindgate_${dep})
      target_link_libraries(mindgate_${folder} PUBLIC mindgate_${dep})
    else()
      target_link_libraries(mindgate_${folder} PUBLIC ${dep})
    endif()
  endforeach()
  target_link_libraries(mindgate_${folder} PRIVATE ${ARG_PRIVATE_DEPS} nlohmann_json::nlohmann_json)
  mindgate_compile_options(mindgate_${folder})
  if(ARG_HEADERS)
    mindgate_precompile(mindgate_${folder} HEADERS ${ARG_HEADERS})
  else()
    mindgate_precompile(mindgate_${folder} SHARED mindgate_library_headers)
  endif()
endfunction()

# mindgate_test_places: support/places.h.
function(mindgate_test_places)
  set(source ${CMAKE_BINARY_DIR}/test_places.cc)
  file(GENERATE OUTPUT ${source} CONTENT "#include \"support/places.h\"
const char* mindgate::testing::SourceFolder() { return \"${CMAKE_SOURCE_DIR}\"; }
const char* mindgate::testing::Program() { return \"$<TARGET_FILE:mindgate>\"; }
")
  add_library(mindgate_test_places STATIC ${source})
  target_include_directories(mindgate_test_places PRIVATE ${CMAKE_SOURCE_DIR}/tests)
endfunction()

# mindgate_test(FOLDER LABEL label DEPS ... [ALONE]): one GoogleTest program for tests/FOLDER. ALONE: it never runs mindgate.
function(mindgate_test folder)
  cmake_parse_arguments(ARG "ALONE" "LABEL" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  set(target ${folder}_test)
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} mindgate_test_places nlohmann_json::nlohmann_json GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
  mindgate_compile_options(${target})
  mindgate_precompile(${target} SHARED mindgate_test_headers)
  if(NOT ARG_ALONE)
    add_dependencies(${target} mindgate)
  endif()
  # A fixed seed, so that the suite gives the same answer every time; RC_PARAMS in the environment of a test program run by
  # hand searches further.
  set(seed RC_PARAMS=seed=20261121)
  if(NOT MINDGATE_SANITIZE)
    gtest_discover_tests(${target} PROPERTIES LABELS ${ARG_LABEL} ENVIRONMENT ${seed} TIMEOUT 300 DISCOVERY_TIMEOUT 120)
    return()
  endif()
  # A sanitized program takes longer to start than most tests take: shares of the tests in one process each.
  list(LENGTH sources files)
  math(EXPR shards "(${files} + 4) / 5")
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(name ${target}.${shard})
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 600
      ENVIRONMENT "${seed};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
