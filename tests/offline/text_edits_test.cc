#include "offline/text_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "offline/documents.h"

namespace mindgate::offline {
namespace {

using json::Json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct TextCase {
  std::string name;
  std::string before;
  std::vector<TextEdit> edits;
  std::string after;
  std::string file = "a.yaml";
};

EditedText EditedFile(const std::string& file, const std::string& text,
                      const std::vector<TextEdit>& edits) {
  const auto source = Decode({file, text});
  EXPECT_FALSE(source->documents.empty());
  std::vector<DocumentEdit> of_first;
  for (const TextEdit& edit : edits) of_first.push_back({0, edit});
  return Edited(*source, of_first);
}

void ExpectEdited(const std::vector<TextCase>& cases) {
  for (const TextCase& c : cases) {
    SCOPED_TRACE(c.name);
    const EditedText edited = EditedFile(c.file, c.before, c.edits);
    EXPECT_EQ(edited.text, c.after);
    for (const RefusedEdit& refused : edited.refused) {
      ADD_FAILURE() << refused.edit << ": " << refused.why << "; " << refused.instead;
    }
  }
}

const TextEdit kOn = {"/metadata/labels/pod-rescheduling", "on"};
const TextEdit kForce = {"/metadata/labels/fault-scheduling", "force"};
const Json kEnv = Json::array({{{"name", "A"}, {"value", "3"}}});

TEST(TextEdits, OfBlocks) {
  ExpectEdited({
      {"a key goes behind the last one of its mapping",
       "metadata:\n  labels:\n    app: a\n  name: n  # the name\nspec: {}\n",
       {kForce, kOn},
       "metadata:\n  labels:\n    app: a\n    fault-scheduling: force\n    pod-rescheduling: 'on'\n"
       "  name: n  # the name\nspec: {}\n"},
      {"comments at the end of a line and between lines stay where they are",
       "metadata:\n  labels: # these\n    # first\n    app: a # last\n\n    # b: c\n# end\nspec: "
       "1\n",
       {kForce},
       "metadata:\n  labels: # these\n    # first\n    app: a # last\n    fault-scheduling: force\n"
       "\n    # b: c\n# end\nspec: 1\n"},
      {"what is inside comes before what is around it",
       "metadata:\n  labels:\n    app: a\n",
       {{"/metadata/annotations", {{"k", "v"}}}, kForce},
       "metadata:\n  labels:\n    app: a\n    fault-scheduling: force\n  annotations:\n    k: v\n"},
      {"parents that are missing come with their indentation",
       "metadata:\n    name: n\n",
       {{"/metadata/labels", {{"a", "1"}, {"b", {{"c", true}}}}}},
       "metadata:\n    name: n\n    labels:\n        a: '1'\n        b:\n            c: true\n"},
      {"a parent without a value gets one",
       "metadata:\n  labels:  # none yet\n  # later\n  name: n\n",
       {{"/metadata/labels", {{"a", "b"}}}},
       "metadata:\n  labels:  # none yet\n    a: b\n  # later\n  name: n\n"},
      {"so does null",
       "metadata:\n  labels: null # c\n  name: ~\n",
       {{"/metadata/labels", {{"a", "b"}}}, {"/metadata/name", "m"}},
       "metadata:\n  labels: # c\n    a: b\n  name: m\n"},
      {"an empty mapping becomes a block",
       "metadata:\n  labels: {}  # c\n  name: n\n",
       {kForce, kOn},
       "metadata:\n  labels:  # c\n    fault-scheduling: force\n    pod-rescheduling: 'on'\n"
       "  name: n\n"},
      {"a comment between its brackets keeps them",
       "metadata:\n  labels: { # none\n  }\n",
       {kForce},
       "metadata:\n  labels: {fault-scheduling: force # none\n  }\n"},
      {"no line end at the end of the text",
       "metadata:\n  labels:\n    app: a",
       {kForce},
       "metadata:\n  labels:\n    app: a\n    fault-scheduling: force"},
      {"line ends of Windows",
       "metadata:\r\n  labels:\r\n    app: a # c\r\nspec:\r\n",
       {kForce, {"/spec", {{"a", 1}}}},
       "metadata:\r\n  labels:\r\n    app: a # c\r\n    fault-scheduling: force\r\nspec:\r\n  a: "
       "1\r\n"},
      {"a byte order mark, and keys without indentation",
       "\xEF\xBB\xBFmetadata:\n  name: n\n",
       {{"/spec", {{"a", 1}}}},
       "\xEF\xBB\xBFmetadata:\n  name: n\nspec:\n  a: 1\n"},
      {"tabs in comments and text of other scripts",
       "metadata:\n  labels:\n    名: 值\t# \t注\n",
       {kForce},
       "metadata:\n  labels:\n    名: 值\t# \t注\n    fault-scheduling: force\n"},
      {"quoted keys",
       "\"metadata\":\n  'labels':\n    \"app\": \"a\"\n",
       {kOn, kForce},
       "\"metadata\":\n  'labels':\n    \"app\": \"a\"\n    fault-scheduling: force\n"
       "    pod-rescheduling: \"on\"\n"},
      {"a literal block, whose empty lines stay behind it",
       "metadata:\n  labels:\n    app: |\n      a\n\n      b\n\n# end\nspec: 1\n",
       {kForce},
       "metadata:\n  labels:\n    app: |\n      a\n\n      b\n    fault-scheduling: force\n\n# "
       "end\n"
       "spec: 1\n"},
      {"a literal block that keeps its empty lines",
       "metadata:\n  labels:\n    app: |+\n      a\n\nspec: 1\n",
       {kForce},
       "metadata:\n  labels:\n    app: |+\n      a\n\n    fault-scheduling: force\nspec: 1\n"},
      {"a folded text and one in quotes of two lines",
       "metadata:\n  labels:\n    app: >-\n      a\n      b\n  name: \"a\n    b\"\n",
       {kForce, {"/metadata/x", 1}},
       "metadata:\n  labels:\n    app: >-\n      a\n      b\n    fault-scheduling: force\n"
       "  name: \"a\n    b\"\n  x: 1\n"},
      {"a document between others",
       "# first\n---\nmetadata:\n  name: n\n...\n---\n# empty\n---\na: b\n",
       {{"/metadata/labels", {{"a", "b"}}}},
       "# first\n---\nmetadata:\n  name: n\n  labels:\n    a: b\n...\n---\n# empty\n---\na: b\n"},
  });
}

TEST(TextEdits, OfSequences) {
  ExpectEdited({
      {"an item goes behind the last one",
       "spec:\n  env:\n  - name: B\n    value: b # b\n  x: 1\n",
       {{"/spec/env/-", kEnv[0]}},
       "spec:\n  env:\n  - name: B\n    value: b # b\n  - name: A\n    value: '3'\n  x: 1\n"},
      {"with the indentation and the width of its dashes",
       "spec:\n    env:\n      -   name: B\n          value: \"b\"\n",
       {{"/spec/env/-", kEnv[0]}},
       "spec:\n    env:\n      -   name: B\n          value: \"b\"\n"
       "      -   name: A\n          value: \"3\"\n"},
      {"a new list has dashes like the others",
       "spec:\n  containers:\n    - name: c\n",
       {{"/spec/containers/0/env", kEnv}, {"/spec/schedulerName", "volcano"}},
       "spec:\n  containers:\n    - name: c\n      env:\n        - name: A\n          value: '3'\n"
       "  schedulerName: volcano\n"},
      {"not indented",
       "spec:\n  containers:\n  - name: c\n",
       {{"/spec/containers/0/env", kEnv}},
       "spec:\n  containers:\n  - name: c\n    env:\n    - name: A\n      value: '3'\n"},
      {"an empty list becomes a block",
       "spec:\n  env: []\n  a:\n    - 1\n",
       {{"/spec/env/-", kEnv[0]}},
       "spec:\n  env:\n    - name: A\n      value: '3'\n  a:\n    - 1\n"},
      {"items without a value, and lists in lists",
       "spec:\n- - a\n  -\n- {}\n",
       {{"/spec/0/1", "b"}, {"/spec/0/-", "c"}, {"/spec/1/x", "z"}},
       "spec:\n- - a\n  - b\n  - c\n- {x: z}\n"},
      {"the items of a List",
       "kind: List\nitems:\n- metadata:\n    name: a\n# second\n- metadata:\n    name: b\n",
       {{"/items/0/metadata/labels", {{"a", "b"}}}, {"/items/1/metadata/x", "z"}},
       "kind: List\nitems:\n- metadata:\n    name: a\n    labels:\n      a: b\n# second\n"
       "- metadata:\n    name: b\n    x: z\n"},
      {"dashes on lines of their own",
       "spec:\n  -\n    name: a\n",
       {{"/spec/0/x", 1}, {"/spec/-", "b"}},
       "spec:\n  -\n    name: a\n    x: 1\n  - b\n"},
  });
}

TEST(TextEdits, OfBrackets) {
  ExpectEdited({
      {"members go behind the last one",
       "metadata: {name: n, labels: {app: a } } # c\n",
       {kForce, kOn, {"/metadata/x", Json::array({1, "a, b"})}},
       "metadata: {name: n, labels: {app: a, fault-scheduling: force, pod-rescheduling: 'on' }, "
       "x: [1, 'a, b'] } # c\n"},
      {"a comma that is there already",
       "metadata: {name: n, }\n",
       {{"/metadata/x", 1}},
       "metadata: {name: n, x: 1, }\n"},
      {"empty ones",
       "spec: {labels: {}, env: [], b: }\n",
       {{"/spec/labels/a", "b"}, {"/spec/env/-", 1}, {"/spec/b", {{"c", "d"}}}},
       "spec: {labels: {a: b}, env: [1], b: {c: d}}\n"},
      {"of several lines",
       "spec: {\n  a: 1, # one\n  b: 2 # two\n}\n",
       {{"/spec/c", 3}, {"/spec/d", {{"e", "f"}}}},
       "spec: {\n  a: 1, # one\n  b: 2, # two\n  c: 3,\n  d: {e: f}\n}\n"},
      {"of several lines, with the last comma",
       "spec: [\n  a,\n  b, # two\n]\n",
       {{"/spec/-", "c"}},
       "spec: [\n  a,\n  b, # two\n  c,\n]\n"},
      {"of several lines that close on the last of them",
       "spec: {\n  a: 1,\n  b: 2}\n",
       {{"/spec/c", 3}},
       "spec: {\n  a: 1,\n  b: 2,\n  c: 3}\n"},
      {"quotes as in JSON",
       "spec: {\"a\": \"b\"}\n",
       {{"/spec/c", "d"}},
       "spec: {\"a\": \"b\", \"c\": \"d\"}\n"},
      {"a new list under a key in brackets",
       "spec:\n  containers: [{name: c}]\n",
       {{"/spec/containers/0/env", kEnv}},
       "spec:\n  containers: [{name: c, env: [{name: A, value: '3'}]}]\n"},
  });
}

TEST(TextEdits, OfJson) {
  ExpectEdited({
      {"on lines",
       "{\n  \"metadata\": {\n    \"name\": \"n\"\n  },\n  \"spec\": {}\n}\n",
       {{"/metadata/labels", {{"a", "b"}, {"c", Json::object()}}}, {"/spec/x", 1}},
       "{\n  \"metadata\": {\n    \"name\": \"n\",\n    \"labels\": {\n      \"a\": \"b\",\n"
       "      \"c\": {}\n    }\n  },\n  \"spec\": {\n    \"x\": 1\n  }\n}\n",
       "a.json"},
      {"with tabs",
       "{\n\t\"spec\": {\n\t\t\"a\": [\n\t\t\t1\n\t\t]\n\t}\n}",
       {{"/spec/a/-", {{"b", 2}}}},
       "{\n\t\"spec\": {\n\t\t\"a\": [\n\t\t\t1,\n\t\t\t{\n\t\t\t\t\"b\": "
       "2\n\t\t\t}\n\t\t]\n\t}\n}",
       "a.json"},
      {"compact",
       R"({"metadata":{"name":"n"},"spec":{"l":null}})",
       {{"/metadata/labels", {{"a", "b"}, {"c", "d"}}}, {"/spec/l", {{"x", "y"}}}},
       R"({"metadata":{"name":"n","labels":{"a":"b","c":"d"}},"spec":{"l":{"x":"y"}}})",
       "a.json"},
      {"on one line with spaces, escapes and halves of pairs",
       R"({"m\u0065ta": {"\ud83d\ude00": "\/"}})",
       {{"/meta/\xF0\x9F\x98\x80", "x"}, {"/meta/b", {{"c", 1}}}},
       R"({"m\u0065ta": {"\ud83d\ude00": "x", "b": {"c": 1}}})",
       "a.json"},
      {"a byte order mark and line ends of Windows",
       "\xEF\xBB\xBF{\r\n  \"a\": {\r\n    \"b\": 1\r\n  }\r\n}\r\n",
       {{"/a/c", {{"d", 2}}}},
       "\xEF\xBB\xBF{\r\n  \"a\": {\r\n    \"b\": 1,\r\n    \"c\": {\r\n      \"d\": 2\r\n    }\r\n"
       "  }\r\n}\r\n",
       "a.json"},
      {"the first of a row",
       "{\"a\": {\"b\": 1}}\n{\"c\": 2}\n",
       {{"/a/d", 3}},
       "{\"a\": {\"b\": 1, \"d\": 3}}\n{\"c\": 2}\n",
       "a.json"},
  });
}

TEST(TextEdits, ReplaceScalarsInTheirQuotes) {
  ExpectEdited({
      {"without quotes",
       "metadata:\n  labels:\n    fault-scheduling: Force # c\n    m: 3\n",
       {kForce, {"/metadata/labels/m", "3"}},
       "metadata:\n  labels:\n    fault-scheduling: force # c\n    m: '3'\n"},
      {"in quotes",
       "metadata: {labels: {fault-scheduling: \"Force\", pod-rescheduling: 'On'}}\n",
       {kForce, kOn},
       "metadata: {labels: {fault-scheduling: \"force\", pod-rescheduling: 'on'}}\n"},
      {"quotes as the document has them",
       "metadata:\n  name: \"n\"\n  labels:\n    pod-rescheduling: on\n",
       {kOn},
       "metadata:\n  name: \"n\"\n  labels:\n    pod-rescheduling: \"on\"\n"},
      {"a block",
       "metadata:\n  labels:\n    fault-scheduling: |-\n      Force\n\n    a: b\n",
       {kForce},
       "metadata:\n  labels:\n    fault-scheduling: force\n\n    a: b\n"},
      {"with an anchor that nothing uses",
       "metadata:\n  labels: &l\n    fault-scheduling: &f Force\n",
       {kForce, kOn},
       "metadata:\n  labels: &l\n    fault-scheduling: &f force\n    pod-rescheduling: 'on'\n"},
      {"text of several lines",
       "metadata:\n  a: b\nspec: {c: d}\n",
       {{"/metadata/t", "x\ny\n"}, {"/spec/t", "x\ny"}, {"/metadata/a", "1\n2"}},
       "metadata:\n  a: \"1\\n2\"\n  t: |\n    x\n    y\nspec: {c: d, t: \"x\\ny\"}\n"},
  });
}

struct RefusalCase {
  std::string name;
  std::string text;
  TextEdit edit;
  std::string why;
  std::string instead;
};

TEST(TextEdits, AreRefusedWhereSomethingElseWouldChange) {
  const std::vector<RefusalCase> cases = {
      {"an alias", "a: &l\n  app: a\nmetadata:\n  labels: *l\n", kForce,
       "labels is the alias *l, and a change at its anchor would change every place that uses it",
       "write out what the alias stands for, with fault-scheduling: force"},
      {"below an alias", "a: &m\n  labels: {app: a}\nmetadata: *m\n", kForce,
       "metadata is the alias *m,", "fault-scheduling: force"},
      {"an anchor that an alias uses", "metadata:\n  labels: &l # c\n    app: a\nb: *l\n", kForce,
       "labels has the anchor &l, and an alias elsewhere would change with it",
       "write fault-scheduling: force if it is right in both places"},
      {"below one", "metadata: &m\n  labels:\n    app: a\nb:\n  <<: *m\n", kOn,
       "metadata has the anchor &m,", "pod-rescheduling: 'on'"},
      {"a merged key",
       "a: &l\n  fault-scheduling: Force\nmetadata:\n  labels:\n    <<: [*l]\n    b: c\n", kForce,
       "fault-scheduling comes from a map that \"<<\" merges",
       "write fault-scheduling: force beside the \"<<\": own keys win"},
      {"below a merged key", "a: &l\n  labels: {a: b}\nmetadata:\n  <<: *l\n", kForce,
       "labels comes from a map that \"<<\" merges", "own keys win"},
      {"a value with a tag", "metadata:\n  labels:\n    fault-scheduling: !!str Force\n", kForce,
       "a program cannot change safely", "write fault-scheduling: force"},
      {"a value that holds others", "metadata:\n  labels:\n    fault-scheduling: {a: b}\n", kForce,
       "a program cannot change safely", "write fault-scheduling: force"},
      {"a last line whose end is its text", "metadata:\n  labels:\n    a: |\n      text", kForce,
       "a program cannot change safely", "write fault-scheduling: force"},
      {"keys with question marks", "metadata:\n  labels:\n    ? a\n    : b\n", kForce,
       "a program cannot change safely", "write fault-scheduling: force"},
  };
  for (const RefusalCase& c : cases) {
    SCOPED_TRACE(c.name);
    const EditedText edited = EditedFile("a.yaml", c.text, {c.edit});
    EXPECT_EQ(edited.text, c.text);
    EXPECT_THAT(edited.done, IsEmpty());
    ASSERT_EQ(edited.refused.size(), 1u);
    EXPECT_THAT(edited.refused[0].why, HasSubstr(c.why));
    EXPECT_THAT(edited.refused[0].instead, HasSubstr(c.instead));
  }
}

TEST(TextEdits, OwnKeysBesideAMergeAreWritten) {
  ExpectEdited({
      {"a key that no merged map has",
       "a: &l\n  b: c\nmetadata:\n  labels:\n    <<: *l\n",
       {kForce},
       "a: &l\n  b: c\nmetadata:\n  labels:\n    <<: *l\n    fault-scheduling: force\n"},
      {"behind an alias",
       "a: &l b\nmetadata:\n  labels:\n    c: *l # d\n",
       {kForce},
       "a: &l b\nmetadata:\n  labels:\n    c: *l # d\n    fault-scheduling: force\n"},
  });
}

TEST(Spliced, InAnyOrderAndTheInnerFirst) {
  EXPECT_EQ(Spliced("abc", {{3, 0, "!", 1}, {1, 1, "x", 0}, {3, 0, "?", 2}, {1, 0, "dropped", 0}}),
            "axc?!");
  EXPECT_EQ(Spliced("abc", {}), "abc");
  EXPECT_EQ(Spliced("abc", {{2, 5, "x", 0}}), "abc");
}

}  // namespace
}  // namespace mindgate::offline
