#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schemas/site_kinds.h"

namespace mindgate::schemas {
namespace {

// The steps as "member", "member[]" and "member{}" with blanks between, or "! " and the fault.
std::string ReadAs(const std::string& text, bool may_branch) {
  const auto route = FieldRoute::Read(text, may_branch);
  if (!route) return "! " + route.error();
  std::string out;
  for (const FieldRoute::Step& step : route->steps()) {
    constexpr std::string_view kEach[] = {"", "[]", "{}"};
    if (!out.empty()) out += ' ';
    out += step.member + std::string(kEach[static_cast<size_t>(step.each)]);
  }
  EXPECT_EQ(route->Text(), text) << "a route is written as it was read";
  return out;
}

TEST(FieldRoute, IsReadOrRefusedWithAReason) {
  struct Case {
    std::string text;
    bool may_branch;
    std::string want;
  };
  const std::string deep = "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p";
  const std::vector<Case> cases = {
      {"spec", false, "spec"},
      {"spec.template", false, "spec template"},
      {"spec.workerGroupSpecs[].template", true, "spec workerGroupSpecs[] template"},
      {"spec.pytorchReplicaSpecs{}.template", true, "spec pytorchReplicaSpecs{} template"},
      {"spec.roles[]", true, "spec roles[]"},
      {"spec.a_b-c.d2", false, "spec a_b-c d2"},
      {deep, false, "a b c d e f g h i j k l m n o p"},
      {"", false, R"(! "" in "" is not the name of a field)"},
      {"/spec/template", true,
       R"(! "/spec/template" in "/spec/template" is not the name of a field)"},
      {"spec..template", true, R"(! "" in "spec..template" is not the name of a field)"},
      {"spec.template.", true, R"(! "" in "spec.template." is not the name of a field)"},
      {"spec.roles[0].template", true,
       R"(! "roles[0]" in "spec.roles[0].template" is not the name of a field)"},
      {"spec.[].template", true, R"(! "" in "spec.[].template" is not the name of a field)"},
      {"spec.2d", true, R"(! "2d" in "spec.2d" is not the name of a field)"},
      {"spec.rolés", true, R"(! "rolés" in "spec.rolés" is not the name of a field)"},
      {"a." + std::string(64, 'b'), true,
       "! \"" + std::string(64, 'b') + "\" in \"a." + std::string(64, 'b') +
           "\" is not the name of a field"},
      {"spec.roles[]", false, "! [] and {} are only for the path of a template"},
      {"spec.a[].b{}.c", true, "! the path has more than one [] or {}"},
      {deep + ".q", false, "! the path has more than 16 members"},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadAs(c.text, c.may_branch), c.want) << c.text;
}

}  // namespace
}  // namespace mindgate::schemas
