#pragma once

// Where things are on this machine. They stand in a file that CMake writes, so that all other
// objects are the same in every checkout, and a compiler cache finds them.
namespace mindgate::testing {

const char* SourceFolder();
const char* Program();  // the mindgate under test

}  // namespace mindgate::testing
