#include <gtest/gtest.h>

#include "json/issues.h"

namespace mindgate::json {
namespace {

// Each node as "kind key [text]", in order.
std::vector<std::string> Shown(std::string_view text, const Outline& outline) {
  std::vector<std::string> lines;
  for (const TextNode& node : outline) {
    constexpr std::string_view kKinds[] = {"scalar", "mapping", "sequence", "alias"};
    std::string line(kKinds[static_cast<size_t>(node.kind)]);
    if (node.flow) line += " in brackets";
    if (node.shared) line += " shared";
    if (node.merge) line += " merge";
    if (!node.key.empty()) line += " key " + node.key;
    line += " [" + std::string(text.substr(node.begin, node.end - node.begin)) + "]";
    lines.push_back(std::move(line));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(OutlineYaml, HasTheBytesOfEveryNode) {
  const std::string_view text = "\xEF\xBB\xBF# é\na: &x # c\n  b: |\n    é\n\n  c: [1, {d: *y}]\n";
  EXPECT_FALSE(OutlineYaml(text));
  const std::string_view good =
      "\xEF\xBB\xBF# é\na: &x # c\n  b: |\n    é\n\n  3: [1, {d: !!str e}]\nf: *x\n<<: *x\n";
  const auto outlines = OutlineYaml(good);
  ASSERT_TRUE(outlines);
  ASSERT_EQ(outlines->size(), 1u);
  EXPECT_EQ(Shown(good, outlines->front()),
            (Lines{"mapping [a: &x # c\n  b: |\n    é\n\n  3: [1, {d: !!str e}]\nf: *x\n<<: *x]",
                   "scalar key a [a]", "mapping shared [b: |\n    é\n\n  3: [1, {d: !!str e}]]",
                   "scalar key b [b]", "scalar [|\n    é\n\n]", "scalar key 3 [3]",
                   "sequence in brackets [[1, {d: !!str e}]]", "scalar [1]",
                   "mapping in brackets [{d: !!str e}]", "scalar key d [d]", "scalar [e]",
                   "scalar key f [f]", "alias [*x]", "scalar merge key << [<<]", "alias [*x]"}));
}

TEST(OutlineYaml, OfSeveralDocuments) {
  const std::string_view text = "# none\n---\na:\n---\n- \n- b # c\n...\n";
  const auto outlines = OutlineYaml(text);
  ASSERT_TRUE(outlines);
  ASSERT_EQ(outlines->size(), 2u);
  EXPECT_EQ(Shown(text, (*outlines)[0]), (Lines{"mapping [a:]", "scalar key a [a]", "scalar []"}));
  EXPECT_EQ(Shown(text, (*outlines)[1]), (Lines{"sequence [- \n- b]", "scalar []", "scalar [b]"}));
  EXPECT_EQ(ChildrenOf((*outlines)[1], 0), (std::vector<uint32_t>{1, 2}));
}

TEST(OutlineJson, HasTheBytesOfEveryNode) {
  const std::string_view text = "\xEF\xBB\xBF {\"\\u0061\": [1, {}, \"x\"],\t\"b\" : null}";
  const Outline outline = OutlineJson(text);
  EXPECT_EQ(Shown(text, outline),
            (Lines{"mapping in brackets [{\"\\u0061\": [1, {}, \"x\"],\t\"b\" : null}]",
                   "scalar key a [\"\\u0061\"]", "sequence in brackets [[1, {}, \"x\"]]",
                   "scalar [1]", "mapping in brackets [{}]", "scalar [\"x\"]",
                   "scalar key b [\"b\"]", "scalar [null]"}));
  EXPECT_EQ(ChildrenOf(outline, 0), (std::vector<uint32_t>{1, 6}));
  EXPECT_EQ(ChildrenOf(outline, 2), (std::vector<uint32_t>{3, 4, 5}));
}

}  // namespace
}  // namespace mindgate::json
