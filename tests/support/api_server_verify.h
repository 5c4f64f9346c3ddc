#pragma once

#include <openssl/evp.h>

#include <nlohmann/json.hpp>
#include <string>

#include "json/decode.h"
#include "json/value.h"

namespace mindgate::testing {

// What kube-apiserver finds wrong with an answer before it uses it, empty when nothing (apiserver:
// pkg/admission/plugin/webhook/request/admissionreview.go, VerifyAdmissionResponse; then
// mutating/dispatcher.go). `object` becomes the request's object after the patch.
inline std::string VerifyAnswer(const json::Json& review, bool mutating, const std::string& body,
                                json::Json* object = nullptr) {
  const auto answer = json::Decode(body);
  if (!answer || !answer->is_object()) return "could not unmarshal response";
  if (answer->value("kind", "") != "AdmissionReview" ||
      answer->value("apiVersion", "") != review.value("apiVersion", "")) {
    return "expected webhook response of " + review.value("apiVersion", "");
  }
  const json::Json* response = json::Find(*answer, "response");
  if (!json::IsObject(response)) return "webhook response was absent";
  const std::string uid = review["request"]["uid"];
  if (response->value("uid", "") != uid) return "expected response.uid=" + uid;
  if (!response->contains("allowed") || !(*response)["allowed"].is_boolean()) {
    return "response.allowed is no boolean";
  }
  const bool patch = response->contains("patch");
  const bool type = response->contains("patchType");
  if (!mutating && (patch || type)) return "validating webhook returned a patch";
  if (patch != type) return "response.patch and response.patchType come together";
  json::Json result = review["request"]["object"];
  if (patch) {
    if ((*response)["patchType"] != "JSONPatch") return "unsupported patch type";
    const std::string base64 = (*response)["patch"];
    std::string bytes(base64.size() / 4 * 3 + 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(base64.data()),
                                     static_cast<int>(base64.size()));
    if (size < 0 || base64.empty()) return "patch is no base64";
    bytes.resize(static_cast<size_t>(size) - (base64.ends_with("==") ? 2 : base64.ends_with('=')));
    const auto operations = json::Decode(bytes);
    if (!operations) return "patch is no JSON";
    if (!result.is_object()) return "cannot patch: there is not an object";
    try {
      result = result.patch(*operations);
    } catch (const json::Json::exception& fault) {
      return std::string("patch does not apply: ") + fault.what();
    }
  }
  const json::Json none = json::Json::array();
  size_t runes = 0;
  for (const json::Json& warning :
       response->contains("warnings") ? (*response)["warnings"] : none) {
    runes += warning.get<std::string>().size();
  }
  if (runes > 4096) return "warnings would be cut";
  if (response->contains("auditAnnotations")) {
    for (const auto& [key, value] : (*response)["auditAnnotations"].items()) {
      if (key.empty() || key.size() > 63 || key.find('/') != std::string::npos) {
        return "audit annotation " + key + " would be dropped";
      }
      if (!value.is_string()) return "audit annotation " + key + " is no string";
    }
  }
  if (object != nullptr) *object = std::move(result);
  return "";
}

}  // namespace mindgate::testing
