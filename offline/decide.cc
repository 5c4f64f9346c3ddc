#include "offline/decide.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "schemas/kinds.h"
#include "schemas/raw_objects.h"

namespace mindgate::offline {
namespace {

// The namespace of an object that does not set one: empty for cluster-scoped and unknown kinds.
std::string EffectiveNamespace(const json::Value& object, const std::string& default_namespace,
                               const schemas::SiteKinds& kinds);

bool IsPlain(const json::Value& value) { return value.is_number() || value.is_boolean(); }

// What stands at a place, up to where a plain scalar of YAML or JSON may end.
std::string_view WordAt(std::string_view text, json::Position at) {
  if (at.line < 1 || at.column < 1) return {};
  std::string_view line = json::internal::LineOf(text, at.line);
  const size_t begin = static_cast<size_t>(at.column) - 1;
  if (begin >= line.size()) return {};
  line.remove_prefix(begin);
  return line.substr(0, line.find_first_of(" \t\r,]}"));
}

}  // namespace

std::optional<std::string> AsWritten(const Source& source, Document& document,
                                     const std::string& path, const json::Value& value) {
  if (!IsPlain(value)) return std::nullopt;
  const std::string_view word = WordAt(source.input.text, document.At(path));
  if (word.empty() || json::ResolvePlainScalar(word) != json::TreeOf(value)) return std::nullopt;
  return std::string(word);
}

namespace {

// A fix that puts the value at its place into quotes quotes what the author wrote: the value alone
// no longer knows that 1.1 was 1.10. `after` is the object that was evaluated.
void QuoteAsWritten(const InputObject& input, const json::Value& after,
                    std::vector<policies::Finding>& findings) {
  if (input.source == nullptr || input.document == nullptr) return;
  for (policies::Finding& finding : findings) {
    const json::Value* value = json::Resolve(after, finding.path);
    if (value == nullptr || !IsPlain(*value)) continue;
    const std::string parsed = Quote(json::Dump(*value));
    if (!finding.fix.ends_with(parsed)) continue;
    const auto written =
        AsWritten(*input.source, *input.document, input.path + finding.path, *value);
    const bool as_text = finding.right && !finding.right->is_number;
    if (!written && as_text) finding.right.reset();
    if (!written) continue;
    finding.fix.replace(finding.fix.size() - parsed.size(), parsed.size(), Quote(*written));
    if (as_text) finding.right->text = *written;
  }
}

// What remains of the text from that line on; empty beyond its end.
std::string_view FromLine(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// Spaces before the content: that of the first line that has any.
size_t IndentOf(std::string_view block) {
  while (!block.empty()) {
    const std::string_view line = FirstLine(block);
    const size_t indent = line.find_first_not_of(" \r");
    if (indent != std::string_view::npos) return indent;
    block.remove_prefix(line.size() == block.size() ? line.size() : line.size() + 1);
  }
  return 0;
}

}  // namespace

std::optional<json::Position> InsideBlock(std::string_view text, json::Position at,
                                          json::Position within) {
  if (at.line < 1 || at.column < 1 || within.line < 1) return std::nullopt;
  const std::string_view header = FirstLine(FromLine(text, at.line));
  const size_t column = static_cast<size_t>(at.column) - 1;
  if (column >= header.size() || header[column] != '|') return std::nullopt;
  const std::string_view block = FromLine(text, at.line + 1);
  return json::Position{at.line + within.line, within.column + static_cast<int>(IndentOf(block))};
}

namespace {

using json::Value;
using schemas::Operation;

constexpr const char* kDefaultNamespace = "default";

void Describe(const Value& object, const std::string& default_namespace,
              const schemas::SiteKinds& kinds, Decision& decision) {
  decision.api_version = ApiVersionOf(object);
  decision.kind = KindOf(object);
  decision.name = schemas::ObjectName(object);
  decision.ns = EffectiveNamespace(object, default_namespace, kinds);
}

RequestOptions WithNamespace(RequestOptions request) {
  if (request.ns.empty()) request.ns = kDefaultNamespace;
  return request;
}

// A runtime as it will be stored, after mutation: services that reference it see that. Null for
// other kinds, and if nothing is changed.
std::shared_ptr<const json::Document> StoredRuntime(const Value& object,
                                                    const RequestOptions& request,
                                                    const schemas::Config& config) {
  const auto kind = schemas::KindOf(object);
  if (!kind || !schemas::kOmeRuntimes.Has(*kind)) return nullptr;
  schemas::AdmissionRequest asked;
  asked.object = &object;
  asked.ns = request.ns;
  asked.namespace_labels = request.namespace_labels;
  return admission::Admit(asked, config, {.evaluate = false}).mutated;
}

std::vector<schemas::KnownObjects::Known> AsStored(
    const std::vector<InputObject>& inputs, const RequestOptions& request,
    const schemas::Config& config, std::vector<std::shared_ptr<const json::Document>>& stored) {
  std::vector<schemas::KnownObjects::Known> known;
  for (const InputObject& input : inputs) {
    if (input.object == nullptr) continue;
    auto runtime = StoredRuntime(*input.object, request, config);
    known.push_back({runtime != nullptr ? &runtime->root() : input.object, input.source});
    if (runtime != nullptr) stored.push_back(std::move(runtime));
  }
  return known;
}

std::vector<schemas::KnownObjects::Known> OfNoSource(const std::vector<const Value*>& objects) {
  std::vector<schemas::KnownObjects::Known> known;
  for (const Value* object : objects) known.push_back({object, nullptr});
  return known;
}

}  // namespace

const Value* Decision::ObjectAfter() const {
  return verdict.mutated != nullptr ? &verdict.mutated->root() : input.object;
}

json::Position Decision::PositionOf(std::string_view path) const {
  if (input.document == nullptr) return {};
  return input.document->At(input.path + std::string(path));
}

json::Position Decision::PositionOf(const policies::Finding& finding) const {
  const json::Position at = PositionOf(finding.path);
  if (finding.within.line < 1 || input.source == nullptr) return at;
  return InsideBlock(input.source->input.text, at, finding.within).value_or(at);
}

int Decision::Line() const {
  if (!input.path.empty() && !input.from_review) return PositionOf("").line;
  return input.document == nullptr ? 0 : input.document->line;
}

std::string Decision::Title() const {
  std::string title = kind.empty() ? "-" : kind;
  title += ' ';
  if (!ns.empty()) title += ns + "/";
  return title + (name.empty() ? "-" : name);
}

std::string Decision::Note() const {
  if (npu_pods.empty()) return "";
  return "mindgate does not handle kind " + kind + ", and its pods ask for NPUs (" +
         json::FieldPath(*input.object, npu_pods) +
         "): on a cluster each of them is injected and evaluated as a Pod when it is created; gang "
         "size and labels of its PodGroup are not evaluated";
}

namespace {

std::string EffectiveNamespace(const Value& object, const std::string& default_namespace,
                               const schemas::SiteKinds& kinds) {
  std::string own = NamespaceOf(object);
  if (!own.empty()) return own;
  const schemas::KindInfo* const info = schemas::FindKind(object, kinds);
  if (info == nullptr || info->cluster_scoped) return "";
  return default_namespace;
}

}  // namespace

Decider::Decider(const std::vector<InputObject>& inputs,
                 const std::vector<const Value*>& old_objects, RequestOptions request,
                 const schemas::Config& config, const admission::Options& options)
    : request_(WithNamespace(std::move(request))),
      config_(config),
      options_(options),
      known_(AsStored(inputs, request_, config_, stored_), request_.ns),
      before_(OfNoSource(old_objects), request_.ns) {}

Decision Decider::Decide(const InputObject& input) const {
  Decision decision;
  decision.input = input;
  if (input.fault) {
    decision.verdict.outcome = admission::Outcome::kError;
    decision.operation = request_.operation.value_or(Operation::kCreate);
    return decision;
  }
  const Value* named = input.object != nullptr ? input.object : input.old_object;
  const std::string& ns = input.ns.empty() ? request_.ns : input.ns;
  if (named != nullptr) Describe(*named, ns, config_.kinds, decision);

  const schemas::KnownObjects::Lookup others(known_, input.source);
  schemas::AdmissionRequest asked;
  asked.object = input.object;
  asked.old_object = input.old_object;
  asked.trusts_owners = !input.from_review;
  asked.objects = &others;
  asked.now = request_.now;
  const auto labels = request_.labels_by_namespace.find(decision.ns);
  asked.namespace_labels =
      labels == request_.labels_by_namespace.end() ? request_.namespace_labels : labels->second;
  asked.ns = ns;
  if (input.from_review) {
    asked.operation = input.operation;
    asked.subresource = input.subresource;
    asked.user_info = input.user_info;
    asked.dry_run = input.dry_run;
    asked.options = input.options;
  } else {
    if (asked.old_object == nullptr) {
      asked.old_object = schemas::KnownObjects::Lookup(before_, nullptr)
                             .Find(schemas::GroupOf(decision.api_version), decision.kind,
                                   decision.ns, decision.name);
    }
    asked.operation = request_.operation.value_or(asked.old_object != nullptr ? Operation::kUpdate
                                                                              : Operation::kCreate);
  }
  decision.operation = asked.operation;
  decision.verdict = admission::Admit(asked, config_, options_);
  if (const Value* after = decision.ObjectAfter()) {
    QuoteAsWritten(input, *after, decision.verdict.findings);
  }
  if (decision.verdict.outcome == admission::Outcome::kIgnored && input.object != nullptr &&
      schemas::FindKind(*input.object, config_.kinds) == nullptr) {
    decision.npu_pods = schemas::FindNpuPods(*input.object).value_or("");
  }
  return decision;
}

std::optional<schemas::WorkloadView> Decider::ViewOf(const Value& object,
                                                     const std::string& ns) const {
  const schemas::ViewOptions options{.read_texts = false,
                                     .scheduler = config_.scheduler,
                                     .npu_resources = config_.npu_resources,
                                     .kinds = config_.kinds};
  std::shared_ptr<const schemas::WorkloadView> runtime;
  if (schemas::KindOf(object) == schemas::Kind::kInferenceService) {
    const schemas::KnownObjects::Lookup others(known_, nullptr);
    if (const Value* named = schemas::FindRuntime(object, others, ns)) {
      if (auto view = schemas::BuildView(*named, nullptr, options)) {
        runtime = std::make_shared<const schemas::WorkloadView>(*std::move(view));
      }
    }
  }
  return schemas::BuildView(object, std::move(runtime), options);
}

}  // namespace mindgate::offline
