// `mindgate apply` and the server call one engine and must say the same: verdict, patch and
// warnings, for every document of every sample.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "json/yaml.h"
#include "support/api_server_verify.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/places.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

namespace fs = std::filesystem;
using http::testing::BodyOf;
using json::Json;
using mindgate::testing::Cli;
using mindgate::testing::ReadSource;
using mindgate::testing::VerifyAnswer;
using testing::ReviewOf;
using testing::ServerFixture;

std::vector<std::string> Samples() {
  const fs::path root = ::mindgate::testing::SourceFolder();
  std::vector<std::string> samples;
  for (const char* folder : {"tests/fixtures/manifests", "tests/fixtures/seeds"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".yaml") {
        samples.push_back(entry.path().lexically_relative(root).string());
      }
    }
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

// What matters to the user who creates the object.
struct Decision {
  bool allowed = false;
  Json object;  // as it would be stored
  std::vector<std::string> warnings;
  std::string rules;  // "MG001=enforce,MG055=warn"
  bool operator==(const Decision&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Decision& decision) {
  out << (decision.allowed ? "allowed" : "denied") << ", rules " << decision.rules << "\n";
  for (const std::string& warning : decision.warnings) out << "Warning: " << warning << "\n";
  return out << decision.object.dump(1);
}

Decision Offline(const Json& object) {
  const auto ran = Cli({"apply", "-o", "json", "-f", "-"}, object.dump());
  EXPECT_NE(ran.code, 2) << ran.err;
  const Json result = json::Decode(ran.out).value()["results"][0];
  Decision decision;
  decision.allowed = ran.code == 0;
  decision.object = result["object"];
  decision.warnings = result["warnings"].get<std::vector<std::string>>();
  std::string last;
  for (const Json& finding : result["findings"]) {
    const std::string rule = finding["rule"];
    if (rule == last) continue;
    last = rule;
    if (!decision.rules.empty()) decision.rules += ",";
    decision.rules += rule + "=" + finding["mode"].get<std::string>();
  }
  return decision;
}

Json WireAnswer(ServerFixture& server, const Json& review, const std::string& path, Json* object) {
  const std::string body = BodyOf(server.Ask(review.dump(), path + "?timeout=10s"));
  EXPECT_EQ(VerifyAnswer(review, path == "/mutate", body, object), "");
  return json::Decode(body).value()["response"];
}

Decision OnTheWire(ServerFixture& server, const Json& object) {
  Json review = ReviewOf(object);
  review["request"]["namespace"] = object["metadata"].value("namespace", "default");
  Decision decision;
  EXPECT_EQ(WireAnswer(server, review, "/mutate", &decision.object)["allowed"], true);
  review["request"]["object"] = decision.object;
  const Json response = WireAnswer(server, review, "/validate", nullptr);
  decision.allowed = response["allowed"];
  decision.warnings = response.value("warnings", std::vector<std::string>());
  decision.rules = response["auditAnnotations"].value("rules", "");
  return decision;
}

class Differential : public ::testing::TestWithParam<std::string> {};

TEST_P(Differential, ServerAndApplyAnswerTheSame) {
  ServerFixture server;
  const auto documents = json::DecodeYaml(ReadSource(GetParam())).value();
  for (const json::YamlDocument& document : documents) {
    if (!document.value.is_object()) continue;
    SCOPED_TRACE("line " + std::to_string(document.line));
    if (!document.value.contains("apiVersion")) {  // one sample; nobody could send it
      EXPECT_EQ(Cli({"apply", "-f", "-"}, document.value.dump()).code, 2);
      continue;
    }
    EXPECT_EQ(OnTheWire(server, document.value), Offline(document.value));
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, Differential, ::testing::ValuesIn(Samples()),
                         [](const auto& sample) {
                           std::string name = sample.param.substr(sample.param.find('/', 6) + 1);
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace mindgate::webhook
