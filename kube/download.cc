#include "kube/access.h"
#include "kube/curl_handles.h"
#include "kube/transport.h"

namespace mindgate::kube {
namespace {

struct Downloaded {
  std::string text{};
  size_t limit = 0;
  bool too_large = false;
};

size_t OnDownloaded(char* data, size_t size, size_t count, void* to) {
  auto& body = *static_cast<Downloaded*>(to);
  if (body.text.size() + size * count > body.limit) {
    body.too_large = true;
    return 0;
  }
  body.text.append(data, size * count);
  return size * count;
}

// Why what was fetched is of no use; nothing: it is there.
Result<void> ResultOf(CURL* easy, CURLcode code, const char* reason, const Downloaded& body,
                      const DownloadLimits& limits) {
  if (body.too_large) {
    return Fail(ErrorCode::kTooLarge,
                "is larger than " + std::to_string(limits.bytes) + " bytes, the most that is read");
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Fail(ErrorCode::kInvalidArgument,
                "did not arrive within " + std::to_string(limits.timeout.count()) + " ms");
  }
  if (code == CURLE_TOO_MANY_REDIRECTS) {
    return Fail(ErrorCode::kInvalidArgument,
                "redirects more than " + std::to_string(limits.redirects) + " times");
  }
  if (code == CURLE_UNSUPPORTED_PROTOCOL) {
    return Fail(ErrorCode::kInvalidArgument,
                "redirects to an address that is not https: name that address itself if you trust "
                "the way to it");
  }
  if (code != CURLE_OK) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "cannot be fetched: " + std::string(*reason == '\0' ? curl_easy_strerror(code) : reason));
  }
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    return Fail(status == 404 ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
                "the server answered with status " + std::to_string(status) + ", not 200");
  }
  return {};
}

}  // namespace

Result<std::string> Download(const std::string& url, const std::string& user_agent,
                             const DownloadLimits& limits) {
  StartCurl();
  const EasyPtr easy(curl_easy_init());
  if (easy == nullptr) return Fail(ErrorCode::kInvalidArgument, "libcurl cannot be started");
  Downloaded body;
  body.limit = limits.bytes;
  char reason[CURL_ERROR_SIZE] = "";
  const char* protocols = url.starts_with("http://") ? "https,http" : "https";
  const auto set = [&easy](CURLoption option, auto value) {
    curl_easy_setopt(easy.get(), option, value);
  };
  set(CURLOPT_ERRORBUFFER, reason);
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_USERAGENT, user_agent.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, protocols);
  set(CURLOPT_REDIR_PROTOCOLS_STR, protocols);
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, static_cast<long>(limits.redirects));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.timeout.count()));
  set(CURLOPT_WRITEFUNCTION, &OnDownloaded);
  set(CURLOPT_WRITEDATA, &body);
  if (!limits.authority.empty()) {
    set(CURLOPT_CAINFO, static_cast<char*>(nullptr));
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
    curl_blob trusted{.data = const_cast<char*>(limits.authority.data()),
                      .len = limits.authority.size(),
                      .flags = CURL_BLOB_NOCOPY};
    set(CURLOPT_CAINFO_BLOB, &trusted);
  } else if (!SystemAuthorities().empty()) {
    set(CURLOPT_CAINFO, SystemAuthorities().c_str());
  }
  const CURLcode code = curl_easy_perform(easy.get());
  if (auto fetched = ResultOf(easy.get(), code, reason, body, limits); !fetched) {
    return tl::unexpected(std::move(fetched.error()));
  }
  return std::move(body.text);
}

}  // namespace mindgate::kube
