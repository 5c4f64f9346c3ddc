// Every family of input that cannot be used: exit code 2, one message with the place, no partial
// output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/cli.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

struct BadInput {
  std::string name;
  std::string file;  // its ending says how it is read
  std::string text;
  std::string error;  // how the message begins
};

std::vector<BadInput> BadInputs() {
  const std::string good = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'i'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    laughs += std::string(1, c) + ": &" + c + " [" + Repeated(before + ", ", 9) + before + "]\n";
  }
  return {
      {"truncated YAML", "a.yaml", "kind: Pod\nmetadata: {name: p", "a.yaml:2:"},
      {"truncated JSON", "a.json", "{\"kind\": \"Pod\",\n \"metadata\": {", "a.json:2:"},
      {"binary", "a.yaml",
       std::string("\x7f"
                   "ELF\x02\x01\x01\0\0\0\0\0",
                   12),
       "a.yaml:1:1: "},
      {"binary as JSON", "a.json", std::string("\0\x01\x02", 3), "a.json:1:1: "},
      {"a document above 7 MiB", "a.yaml", "kind: " + Repeated("x", 8 << 20), "a.yaml:1:"},
      {"JSON above 7 MiB", "a.json", "{\"kind\": \"" + Repeated("x", 8 << 20) + "\"}", "a.json: "},
      {"deeply nested YAML", "a.yaml", Repeated("[", 100000), "a.yaml:1:"},
      {"deeply nested JSON", "a.json", Repeated("[", 100000), "a.json:1:"},
      {"an alias to itself", "a.yaml", "a: &a\n  b: *a\n", "a.yaml:2:6: "},
      {"aliases that expand beyond measure", "a.yaml", laughs, "a.yaml:"},
      {"a list at the top", "a.yaml", "- a\n- b\n",
       "a.yaml:1:1: must be a Kubernetes object, not a list\n"},
      {"a scalar at the top", "a.yaml", "just text\n",
       "a.yaml:1:1: must be a Kubernetes object, not a string\n"},
      {"a list at the top of JSON", "a.json", "[{}]",
       "a.json:1:1: must be a Kubernetes object, not a list\n"},
      {"kind of the wrong type", "a.yaml", "apiVersion: v1\nkind: 3\n",
       "a.yaml:2:7: kind must be a string, not an integer\n"},
      {"no kind", "a.yaml", "apiVersion: v1\nmetadata: {}\n",
       "a.yaml:1:1: not a Kubernetes object: kind is missing\n"},
      {"an item of a List that is no object", "a.yaml",
       "apiVersion: v1\nkind: List\nitems:\n- "
       "apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n- text\n",
       "a.yaml:7:3: must be a Kubernetes object, not a string\n"},
      {"a duplicate key", "a.yaml", "kind: Pod\nmetadata: {}\nkind: Pod\n",
       "a.yaml:3:1: key \"kind\" is written twice\n"},
      {"a duplicate key in JSON", "a.json", "{\"kind\": \"Pod\",\n \"kind\": \"Pod\"}",
       "a.json:2:2: "},
      {"Latin-1", "a.yaml", good + "x: caf\xe9\n", "a.yaml:4:7: "},
      {"UTF-16", "a.yaml", std::string("\xff\xfek\0i\0n\0d\0", 10), "a.yaml:1:1: "},
      {"JSON with a comment", "a.json", "{\n// comment\n}", "a.json:2:1: "},
      {"text after JSON", "a.json", "{}\n1", "a.json:2:1: "},
      {"infinity", "a.yaml", "kind: Pod\nx: .inf\n", "a.yaml:2:4: "},
      {"a good document before a bad one", "a.yaml", good + "---\nkind: [\n", "a.yaml:6:"},
      {"a review without a request", "a.json",
       "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\"}",
       "a.json:1:1: this AdmissionReview has no request\n"},
      {"a review of no operation", "a.json",
       "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\",\n"
       " \"request\": {\"operation\": \"Create\", \"object\": {}}}",
       "a.json:2:27: \"Create\" is not an operation\n"},
  };
}

TEST(BadInput, ExitCode2OneMessageNoOutput) {
  for (const BadInput& bad : BadInputs()) {
    SCOPED_TRACE(bad.name);
    const Workspace workspace;
    workspace.Write(bad.file, bad.text);
    for (const char* output : {"yaml", "diff"}) {
      const CliResult result = Cli({"apply", "-f", bad.file, "-o", output});
      EXPECT_EQ(result.code, 2);
      EXPECT_EQ(result.out, "") << output;
      EXPECT_THAT(result.err, StartsWith(bad.error)) << output;
      size_t messages = 0;
      for (size_t at = 0; (at = result.err.find(bad.file + ":", at)) != std::string::npos; ++at) {
        ++messages;
      }
      EXPECT_EQ(messages, 1u) << result.err;
      EXPECT_LT(result.err.size(), 1000u) << "an excerpt, not the file";
    }
    const CliResult json = Cli({"apply", "-f", bad.file, "-o", "json"});
    EXPECT_EQ(json.code, 2);
    const auto parsed = json::Json::parse(json.out, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << json.out;
    EXPECT_EQ(parsed["summary"]["errors"], 1);
    if (bad.text.size() > 1000) continue;  // the slow ones
    EXPECT_EQ(Cli({"apply", "-f", bad.file, "-o", "table"}).code, 2);
    EXPECT_EQ(Cli({"explain", "-f", bad.file}).code, 2);
  }
}

TEST(BadInput, TheSameOnStandardInput) {
  const CliResult result = Cli({"apply", "-f", "-"}, "  {\"kind\": }");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("<stdin>:1:12: "));
}

TEST(BadInput, AFolderWithOneBadFileStillReportsTheOthers) {
  const Workspace workspace;
  workspace.Write("dir/a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n");
  workspace.Write("dir/b.yaml",
                  "apiVersion: v1\nkind: Service\nmetadata: {name: b}\n---\nkind: [\n---\n"
                  "apiVersion: v1\nkind: Service\nmetadata: {name: c}\n");
  workspace.Write(
      "dir/c.json",
      "{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"d\"}}");
  const CliResult yaml = Cli({"apply", "-f", "dir"});
  EXPECT_EQ(yaml.code, 2);
  EXPECT_EQ(yaml.out,
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: "
            "Service\nmetadata:\n  name: d\n")
      << "nothing of b.yaml, all of the others";
  EXPECT_THAT(yaml.err, StartsWith("dir/b.yaml:6:1: "));
  const auto patch = json::Json::parse(Cli({"apply", "-f", "dir", "-o", "patch"}).out);
  EXPECT_EQ(patch.size(), 2u);

  const auto all = json::Json::parse(Cli({"apply", "-f", "dir", "-o", "json"}).out);
  std::vector<std::string> documents;
  for (const auto& result : all["results"]) {
    documents.push_back(result["file"].get<std::string>() + " " + result["document"].dump() + " " +
                        result["outcome"].get<std::string>());
  }
  EXPECT_THAT(documents, ::testing::ElementsAre("dir/a.yaml 1 ignored", "dir/b.yaml 1 ignored",
                                                "dir/b.yaml 2 error", "dir/b.yaml 3 ignored",
                                                "dir/c.json 1 ignored"))
      << "json reports every document, good or bad";
}

TEST(BadInput, WhatIsNotAnObjectIsSkippedInFoldersAndAnErrorWhenNamed) {
  const Workspace workspace;
  workspace.Write("dir/a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n");
  workspace.Write("dir/values.yaml", "replicas: 3\n---\n- a list\n---\nkind: DaemonSet\n");
  workspace.Write("dir/Chart.yaml", "apiVersion: v2\nname: chart\n");
  workspace.Write("dir/dashboard.json", "{\"panels\": []}");
  const auto summary = [](const CliResult& result) {
    return json::Json::parse(result.out)["summary"];
  };
  CliResult result = Cli({"apply", "-f", "dir", "-o", "json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "skipped: 5 documents that are not Kubernetes objects\n");
  EXPECT_EQ(summary(result),
            json::Json::parse(
                R"({"admitted": 0, "denied": 0, "errors": 0, "ignored": 1, "skipped": 5})"));
  EXPECT_EQ(Cli({"apply", "-f", "d*/*.yaml"}).err,
            "skipped: 4 documents that are not Kubernetes objects\n");
  EXPECT_EQ(Cli({"explain", "-f", "dir"}).err,
            "skipped: 5 documents that are not Kubernetes objects\n");

  for (const char* name : {"dir/values.yaml", "dir/Chart.yaml", "dir/dashboard.json"}) {
    result = Cli({"apply", "-f", name});
    EXPECT_EQ(result.code, 2) << name;
    EXPECT_THAT(result.err, StartsWith(name));
  }

  // Somebody forgot a line of a real object, or wrote it wrongly: that is no values file.
  for (const char* text : {"kind: Pod\nmetadata: {name: p}\n", "apiVersion: v1\nmetadata: {}\n",
                           "apiVersion: v1\nkind: 3\n"}) {
    workspace.Write("dir/forgotten.yaml", text);
    result = Cli({"apply", "-f", "dir"});
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_THAT(result.err, StartsWith("dir/forgotten.yaml:")) << text;
  }
  std::filesystem::remove("dir/forgotten.yaml");
  std::filesystem::remove("dir/a.yaml");
  result = Cli({"apply", "-f", "dir"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: no objects in dir; skipped 5 documents that are not Kubernetes objects\n"
            "hint: a Kubernetes object has apiVersion and kind\n");
}

TEST(BadInput, TemplatesOfChartsAreSkippedAndTheWayToRenderThemIsNamed) {
  const Workspace workspace;
  workspace.Write("charts/llm/Chart.yaml", "apiVersion: v2\nname: llm\n");
  workspace.Write("charts/llm/values.yaml", "replicas: 3\n");
  workspace.Write("charts/llm/templates/a.yaml", "kind: {{ .Values.kind }}\n");
  workspace.Write("charts/llm/templates/sub/b.yaml", "{{ end }}\n");
  workspace.Write("charts/llm/templates/_helpers.tpl", "{{ end }}\n");
  CliResult result = Cli({"apply", "-f", "charts", "-o", "table"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "error: no objects in charts; skipped 2 documents that are not Kubernetes objects, 2 "
            "templates of Helm charts\n"
            "hint: `helm template charts/llm | mindgate apply -f - -o table` checks the output of "
            "the chart\n");
  workspace.Write("charts/a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n");
  result = Cli({"apply", "-f", "charts"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n");
  EXPECT_EQ(result.err,
            "skipped: 2 documents that are not Kubernetes objects, 2 templates of Helm charts\n"
            "hint: `helm template charts/llm | mindgate apply -f - -o table` checks the output of "
            "the chart\n");
  EXPECT_EQ(Cli({"apply", "-f", "charts/llm/templates"}).code, 2) << "named itself";
  workspace.Write("other/templates/bad.yaml", "kind: {{ .x }}\n");
  EXPECT_THAT(Cli({"apply", "-f", "other"}).err, StartsWith("other/templates/bad.yaml:1:"))
      << "not of a chart";
}

TEST(BadInput, AStreamOfBadDocumentsEnds) {
  const Workspace workspace;
  workspace.Write("a.yaml", Repeated("---\nkind: [\n", 1000));
  const auto all = json::Json::parse(Cli({"apply", "-f", "a.yaml", "-o", "json"}).out);
  EXPECT_EQ(all["results"].size(), 51u);
  EXPECT_EQ(all["results"][50]["findings"][0]["message"],
            "too many invalid documents; the rest of the text is ignored");
}

TEST(BadInput, ByteOrderMarksAndWindowsLineEndsAreFine) {
  const CliResult yaml =
      Cli({"apply", "-f", "-"},
          "\xEF\xBB\xBF"
          "apiVersion: v1\r\nkind: Service\r\nmetadata: {name: a}\r\n---\r\n# end\r\n");
  EXPECT_EQ(yaml.code, 0) << yaml.err;
  EXPECT_EQ(yaml.out, "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n");
  const CliResult json = Cli({"apply", "-f", "-"},
                             "\xEF\xBB\xBF{\"apiVersion\": \"v1\", \"kind\": \"Service\", "
                             "\"metadata\": {\"name\": \"a\"}}");
  EXPECT_EQ(json.code, 0) << json.err;
}

}  // namespace
}  // namespace mindgate::cli
