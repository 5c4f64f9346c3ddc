#include "policies/site/facts.h"

#include <algorithm>
#include <initializer_list>

#include "policies/site/matching.h"
#include "policies/site/workload_value.h"

namespace mindgate::policies {
namespace {

using cel::Value;

Value Text(std::string_view text) { return Value::OfString(text); }

Value MapOfEntries(std::initializer_list<cel::Entry> entries, json::Arena& arena) {
  cel::Entry* row = arena.Row<cel::Entry>(entries.size());
  std::copy(entries.begin(), entries.end(), row);
  cel::SortEntries({row, entries.size()});
  return Value::OfEntries({row, entries.size()});
}

}  // namespace

Value SiteFacts::Get(Variable variable, cel::Context& evaluation) {
  const schemas::AdmissionRequest& request = context_.request;
  switch (variable) {
    case kObject:
      return Value::Of(*context_.view.object);
    case kOldObject:
      return request.old_object == nullptr ? Value() : Value::Of(*request.old_object);
    case kUserInfo:
      if (request.user_info != nullptr) return Value::Of(*request.user_info);
      unknown_ = "needs the user of the request, who is not known here";
      return evaluation.Fail("the user of the request is not known here");
    case kRequest:
      if (!request_) request_ = RequestValue();
      return *request_;
    case kNamespaceObject:
      if (!namespace_) namespace_ = NamespaceValue();
      return *namespace_;
    default:
      if (!workload_) workload_ = site::WorkloadValue(context_, arena_);
      return *workload_;
  }
}

// As the API server sends it, but for the user.
Value SiteFacts::RequestValue() {
  const schemas::KindInfo& info = context_.view.info();
  const std::string_view api_version =
      json::FindString(*context_.view.object, "apiVersion").value_or("");
  const std::string_view version = api_version.substr(api_version.find('/') + 1);
  const Value kind = MapOfEntries({{Text("group"), Text(info.group)},
                                   {Text("version"), Text(version)},
                                   {Text("kind"), Text(info.name)}},
                                  arena_);
  const Value resource = MapOfEntries({{Text("group"), Text(info.group)},
                                       {Text("version"), Text(version)},
                                       {Text("resource"), Text(info.plural)}},
                                      arena_);
  return MapOfEntries(
      {{Text("kind"), kind},
       {Text("requestKind"), kind},
       {Text("resource"), resource},
       {Text("requestResource"), resource},
       {Text("subResource"), Text("")},
       {Text("requestSubResource"), Text("")},
       {Text("name"), Text(context_.view.name)},
       {Text("namespace"), Text(context_.ns())},
       {Text("operation"), Text(schemas::OperationName(context_.request.operation))},
       {Text("dryRun"), Value::OfBool(false)}},
      arena_);
}

// The object where it is known, else what every request says of it.
Value SiteFacts::NamespaceValue() {
  const schemas::AdmissionRequest& request = context_.request;
  if (context_.view.info().cluster_scoped) return {};
  if (request.objects != nullptr) {
    const json::Value* known = request.objects->Find("", "Namespace", "", context_.ns());
    if (known != nullptr) return Value::Of(*known);
  }
  cel::Entry* row = arena_.Row<cel::Entry>(request.namespace_labels.size() + 1);
  size_t count = 0;
  for (const auto& [key, value] : request.namespace_labels) row[count++] = {Text(key), Text(value)};
  if (!request.namespace_labels.contains(site::kNameLabel)) {
    row[count++] = {Text(site::kNameLabel), Text(context_.ns())};
  }
  cel::SortEntries({row, count});
  const Value metadata = MapOfEntries(
      {{Text("name"), Text(context_.ns())}, {Text("labels"), Value::OfEntries({row, count})}},
      arena_);
  return MapOfEntries({{Text("apiVersion"), Text("v1")},
                       {Text("kind"), Text("Namespace")},
                       {Text("metadata"), metadata}},
                      arena_);
}

}  // namespace mindgate::policies
