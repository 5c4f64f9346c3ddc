#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faults/codes.h"

// The files that a FaultTable is made of, as texts that people may have changed.
namespace mindgate::faults {

// What is wrong with a text, for people: its first faults, and how many more there are.
class TextProblems {
 public:
  void Add(std::string problem);
  void AppendTo(std::vector<std::string>& problems, const std::string& where) const;

 private:
  static constexpr size_t kMax = 8;
  std::vector<std::string> first_;
  size_t more_ = 0;
};

struct CodeLevel {
  std::string code;
  FaultLevel level = FaultLevel::kNormal;
};

// By code, in small letters.
struct Customization {
  std::map<std::string, WhenItLasts, std::less<>> lasts{};
  std::map<std::string, WhenItRepeats, std::less<>> repeats{};
};

// Each is nothing where the component would refuse the whole text, which the last problem then
// says; entries that it would leave out are left out. Names of members are read in letters of
// either case, as Go reads them. At most kMaxCodes of a text count.
inline constexpr size_t kMaxCodes = 10'000;
std::optional<std::vector<CodeLevel>> ReadCodeLevels(std::string_view text, CodeSource source,
                                                     TextProblems& problems);
std::optional<Customization> ReadCustomization(std::string_view text, TextProblems& problems);
// `waits`: how long faults wait for their triggers.
std::optional<std::vector<FaultRelation>> ReadRelations(std::string_view text,
                                                        std::string_view waits,
                                                        TextProblems& problems);

}  // namespace mindgate::faults
