#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

// Where values are in the objects of a kind, as people write field paths. The routes of a kind of
// mindgate.yaml say where its pod templates are.
namespace mindgate::schemas {

// "spec.workerGroupSpecs[].template": members, from an object down. `[]` behind one stands for each
// item of its list, `{}` for each value of its map. Immutable once read.
class FieldRoute {
 public:
  enum class Each : uint8_t { kOne, kItems, kValues };
  struct Step {
    std::string member;
    Each each = Each::kOne;
    bool operator==(const Step&) const = default;
  };
  // No API nests pod templates deeper than ten members. One list or map is enough for all of them;
  // of more, an object of a few bytes could have any number of templates.
  static constexpr size_t kMaxSteps = 16;
  static constexpr size_t kMaxEach = 1;

  FieldRoute() = default;
  // The route, or what is wrong with the text: one sentence without a full stop. `may_branch`:
  // whether it may have `[]` or `{}`.
  static tl::expected<FieldRoute, std::string> Read(std::string_view text, bool may_branch);

  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  std::string Text() const;
  bool operator==(const FieldRoute&) const = default;

 private:
  std::vector<Step> steps_;
};

}  // namespace mindgate::schemas
