#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "json/pointer.h"
#include "json/yaml.h"
#include "offline/text_edits.h"
#include "support/samples.h"

namespace mindgate::offline {
namespace {

using json::Json;

// Pointers of all values of a tree.
void Pointers(const Json& value, const std::string& at, std::vector<std::string>& out) {
  out.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) Pointers(member, json::Child(at, key), out);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) Pointers(value[i], json::Child(at, i), out);
  }
}

// One edit at a random place: of a value, a member or an item.
TextEdit RandomEdit(const Json& root) {
  std::vector<std::string> all;
  Pointers(root, "", all);
  TextEdit edit;
  edit.pointer = *rc::gen::elementOf(all);
  const Json* at = json::Resolve(root, edit.pointer);
  if (at->is_object() && *rc::gen::arbitrary<bool>()) {
    edit.pointer =
        json::Child(edit.pointer, *rc::gen::element<std::string>("new", "a/b", "on", "1"));
  } else if (at->is_array() && *rc::gen::arbitrary<bool>()) {
    edit.pointer += "/-";
  }
  edit.value = *rc::gen::element<Json>("on", "3", "a: b", "# c", "", 7, true, Json::object(),
                                       Json{{"k", "v"}, {"l", Json::array({1, "off"})}},
                                       Json::array({Json{{"name", "x"}, {"value", "a\nb"}}}));
  return edit;
}

Json With(Json root, const TextEdit& edit) {
  root[Json::json_pointer(edit.pointer)] = edit.value;
  return root;
}

// Whatever the text: an edit is made as intended, or the text stays as it is.
void ExpectAllOrNothing(const std::string& name, const std::string& text) {
  const auto source = Decode({name, text});
  if (source->documents.empty() || source->documents[0].fault) return;
  const Json before = source->documents[0].value;
  const TextEdit edit = RandomEdit(before);
  const EditedText edited = Edited(*source, {{0, edit}});
  RC_ASSERT(edited.done.size() + edited.refused.size() == 1u);
  if (edited.done.empty()) {
    RC_ASSERT(edited.text == text);
    return;
  }
  const auto after = Decode({name, edited.text});
  RC_ASSERT(after->documents.size() == source->documents.size());
  RC_ASSERT(after->documents[0].value == With(before, edit));
}

RC_GTEST_PROP(CheckedEdits, AreMadeAsIntendedOrNotAtAll, ()) {
  static const std::vector<testing::Sample> samples = testing::Samples();
  ExpectAllOrNothing("a.yaml", testing::ReadSample(*rc::gen::elementOf(samples)));
}

// Texts of all that YAML has, put together at random.
RC_GTEST_PROP(CheckedEdits, OfAnyText, ()) {
  static const std::vector<std::string> kPieces = {
      "a:",      " b",   "\n",   "\n  ",    "\n    ", "- ",   "{",       "}",       "[",    "]",
      ", ",      "k: v", " # c", "&x ",     "*x",     "<<: ", "|",       ">-",      "\r\n", "'q'",
      "\"q\": ", "? ",   ": ",   "!!str ",  "~",      "null", "\n---\n", "\n...\n", "\t",   "é",
      "{a: b}",  "[]",   "{}",   "x: &x\n", "- a\n",  "on",   "0x1F",    "\\",      "%"};
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kPieces));
  std::string text = *rc::gen::element<std::string>("", "a: b\n", "x: &x {a: b}\ny:\n", "- a\n");
  for (const std::string& piece : pieces) text += piece;
  ExpectAllOrNothing("a.yaml", text);
}

RC_GTEST_PROP(CheckedEdits, OfAnyJson, ()) {
  static const std::vector<testing::Sample> samples = testing::Samples();
  const auto source = Decode({"a.yaml", testing::ReadSample(*rc::gen::elementOf(samples))});
  if (source->documents.empty() || source->documents[0].fault) return;
  const int indent = *rc::gen::element(-1, 0, 1, 2, 4);
  const char space = *rc::gen::element(' ', '\t');
  ExpectAllOrNothing("a.json", source->documents[0].value.dump(indent, space));
}

TEST(CheckedEdits, WhatSpoilsTheTextIsDroppedAlone) {
  const auto source = Decode({"a.yaml", "a:\n  ? b\n  : c\nd:\n  e: f\n---\ng: h\n"});
  const EditedText edited =
      Edited(*source, {{0, {"/a/x", 1}}, {0, {"/d/x", 2}}, {1, {"/x", 3}}, {0, {"/d/z", 4}}});
  EXPECT_EQ(edited.text, "a:\n  ? b\n  : c\nd:\n  e: f\n  x: 2\n  z: 4\n---\ng: h\nx: 3\n");
  EXPECT_EQ(edited.done, (std::vector<size_t>{1, 2, 3}));
  ASSERT_EQ(edited.refused.size(), 1u);
  EXPECT_EQ(edited.refused[0].edit, 0u);
}

}  // namespace
}  // namespace mindgate::offline
