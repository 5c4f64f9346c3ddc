#pragma once

#include <curl/curl.h>

#include <memory>

// Owners of what libcurl hands out.
namespace mindgate::kube {

template <auto Free>
struct CurlDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using EasyPtr = std::unique_ptr<CURL, CurlDeleter<curl_easy_cleanup>>;
using MultiPtr = std::unique_ptr<CURLM, CurlDeleter<curl_multi_cleanup>>;
using ListPtr = std::unique_ptr<curl_slist, CurlDeleter<curl_slist_free_all>>;

// Must come before every other call. Without it each call fails and says so.
inline void StartCurl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)started;
}

}  // namespace mindgate::kube
