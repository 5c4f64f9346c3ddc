// Any bytes through decoding and admission, as `apply` would take them: each document is created,
// the second one also updates the first, and all of them are known to each other. Whatever they
// are: no error of ours, patches that apply to nlohmann too, nothing left to do on our own output,
// no finding about it, and no fix that a rule refuses.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admit.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "support/promises.h"

namespace {

using mindgate::json::Document;
using mindgate::json::Value;
namespace admission = mindgate::admission;
namespace json = mindgate::json;
namespace schemas = mindgate::schemas;

// Aborts, so that the fuzzer keeps the input.
void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

class Documents : public schemas::ObjectLookup {
 public:
  explicit Documents(std::vector<Document> documents) : documents_(std::move(documents)) {}

  const std::vector<Document>& all() const { return documents_; }

  const Value* Find(std::string_view group, std::string_view kind, std::string_view ns,
                    std::string_view name) const override {
    for (const Document& document : documents_) {
      const Value& object = document.root();
      if (Matches(object, group, kind, ns) && Metadata(object, "name") == name) return &object;
    }
    return nullptr;
  }

  bool IsComplete(std::string_view, std::string_view) const override {
    return documents_.size() % 2 == 0;
  }

  void ForEachNamed(std::string_view group, std::string_view kind, std::string_view name,
                    const std::function<void(const Value&)>& visit) const override {
    for (const Document& document : documents_) {
      const Value& object = document.root();
      const std::string_view ns = Metadata(object, "namespace");
      if (Matches(object, group, kind, ns) && Metadata(object, "name") == name) visit(object);
    }
  }

  void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
               const std::function<void(const Value&)>& visit) const override {
    for (const Document& document : documents_) {
      if (Matches(document.root(), group, kind, ns)) visit(document.root());
    }
  }

 private:
  static std::string_view Metadata(const Value& document, std::string_view key) {
    return json::FindString(json::Find(document, "metadata"), key).value_or("");
  }

  static bool Matches(const Value& document, std::string_view group, std::string_view kind,
                      std::string_view ns) {
    return schemas::GroupOf(json::FindString(document, "apiVersion").value_or("")) == group &&
           json::FindString(document, "kind") == kind && Metadata(document, "namespace") == ns;
  }

  std::vector<Document> documents_;
};

void CheckAnswer(const admission::Verdict& verdict) {
  Require(verdict.outcome != admission::Outcome::kError, "no error");
  for (const auto& finding : verdict.findings) {
    Require(!finding.error, finding.message);
    Require(!finding.message.empty() && !finding.fix.empty(), "findings say what and how to fix");
  }
  Require(verdict.warnings.size() <= admission::kMaxWarnings, "few warnings");
  for (const std::string& warning : verdict.warnings) {
    Require(warning.size() <= admission::kMaxWarning, "short warnings");
  }
  Require(verdict.patch.empty() == (verdict.mutated == nullptr), "a patch makes a new object");
}

void Check(schemas::AdmissionRequest request) {
  static const schemas::Config config;
  const Value& object = *request.object;
  const auto verdict = admission::Admit(request, config);
  CheckAnswer(verdict);
  for (const std::string& broken : mindgate::testing::BrokenPromises(request, config)) {
    Require(false, broken);
  }
  if (!verdict.mutated) return;
  const auto patched = TreeOf(object).patch(json::ToJsonPatch(verdict.patch));
  Require(patched == TreeOf(verdict.mutated->root()), "the patch applies");
  request.object = &verdict.mutated->root();
  const auto again = admission::Admit(request, config);
  CheckAnswer(again);
  Require(again.patch.empty(), "our own output needs no patch");
}

std::vector<Document> Decode(std::string_view text) {
  const json::Limits limits{.bytes = 1 << 16, .depth = 32, .elements = 4000};
  std::vector<Document> documents;
  if (text.starts_with('{') || text.starts_with('[')) {
    if (auto value = Document::Decode(text, limits)) documents.push_back(*std::move(value));
  } else if (auto yaml = json::DecodeYaml(text, limits)) {
    for (const auto& document : *yaml) documents.emplace_back(document.value);
  }
  return documents;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Documents documents(Decode({reinterpret_cast<const char*>(data), size}));
  schemas::AdmissionRequest request;
  request.objects = &documents;
  for (const Document& document : documents.all()) {
    request.object = &document.root();
    Check(request);
  }
  if (documents.all().size() < 2) return 0;
  request.operation = schemas::Operation::kUpdate;
  request.old_object = &documents.all()[0].root();
  request.object = &documents.all()[1].root();
  Check(request);
  return 0;
}
