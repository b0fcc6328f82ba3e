#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "harmonia/text/chat.hpp"
#include "harmonia/text/embedder.hpp"

namespace harmonia::python {

/// A function of Python that takes a list of (text, repeat) and returns an iterator of (place, outcome, text,
/// reason, calls), one a question in any order. What it raises goes through as it is.
class CallableChat final : public Chat {
 public:
  /// Call with the GIL held.
  CallableChat(nanobind::object function, std::string name);
  ~CallableChat() override;
  CallableChat(const CallableChat&) = delete;
  CallableChat& operator=(const CallableChat&) = delete;

  const std::string& name() const override { return name_; }
  void ask(std::span<const ChatQuestion> questions,
           const std::function<void(std::size_t, ChatAnswer)>& taken) override;

 private:
  nanobind::object function_;
  std::string name_;
};

/// A function of Python that takes a list of texts and returns an array of float32, a row a text, none of
/// them 0 or not finite; its method `cuts` says whether it takes only the beginning of a text. What they
/// raise goes through as it is.
class CallableEmbedder final : public Embedder {
 public:
  /// Call with the GIL held.
  CallableEmbedder(nanobind::object function, std::string name);
  ~CallableEmbedder() override;
  CallableEmbedder(const CallableEmbedder&) = delete;
  CallableEmbedder& operator=(const CallableEmbedder&) = delete;

  const std::string& name() const override { return name_; }
  Embeddings embed(std::span<const std::string> texts) override;
  bool cuts(const std::string& text) const override;

 private:
  nanobind::object function_;
  std::string name_;
};

}  // namespace harmonia::python
