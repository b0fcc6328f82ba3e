// What the local embedder makes of texts, for the tests in Python. Texts come as a JSON list on standard
// input.
//   harmonia_embed_texts tokens FOLDER MOST      their tokens, at most MOST each, as a JSON list of lists
//   harmonia_embed_texts embed FOLDER THREADS    their embeddings, as rows of float32
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../src/text/wordpiece.hpp"
#include "harmonia/text/embedder.hpp"

namespace {

void print_tokens(const std::string& folder, std::size_t most, const std::vector<std::string>& texts) {
  std::ifstream in(folder + "/vocab.txt", std::ios::binary);
  const harmonia::WordPiece pieces({std::istreambuf_iterator<char>(in), {}}, folder + "/vocab.txt");
  nlohmann::json lists = nlohmann::json::array();
  for (const std::string& text : texts) lists.push_back(pieces.numbers(text, most));
  std::cout << lists << '\n';
}

void print_embeddings(const std::string& folder, std::size_t threads, const std::vector<std::string>& texts) {
  const auto embedder = harmonia::open_local_embedder(folder, threads);
  const auto [rows, missing] = embedder->embed(texts);
  if (!missing.empty()) throw std::runtime_error(missing.begin()->second);
  std::fwrite(rows.view().data, sizeof(float), rows.rows() * rows.columns(), stdout);
  std::cerr << embedder->name() << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string what = arguments[1], folder = arguments[2];
  const std::size_t number = std::stoul(arguments[3]);
  try {
    const auto texts = nlohmann::json::parse(std::cin).get<std::vector<std::string>>();
    what == "tokens" ? print_tokens(folder, number, texts) : print_embeddings(folder, number, texts);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
