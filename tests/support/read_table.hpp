#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "harmonia/data/row_source.hpp"

namespace harmonia::test {

using Names = std::vector<std::string>;
using Rows = std::vector<std::vector<double>>;

/// Stands for NaN in what read_table() gives, because NaN equals nothing.
inline constexpr double kMissing = -987654321;

/// All of a data set.
struct Table {
  Names features;
  Rows rows;
  Names ids;
  Names labels;
};

/// Reads what is left of the source in blocks of `limit` rows.
inline Table read_table(RowSource& source, std::size_t limit, std::size_t first = 0) {
  Table table;
  table.features = source.info().features;
  RowBlock block;
  while (source.read(block, limit)) {
    EXPECT_EQ(block.first, first + table.rows.size());
    EXPECT_LE(block.values.rows(), limit);
    for (std::size_t i = 0; i < block.values.rows(); ++i) {
      std::vector<double> row(block.values.row(i), block.values.row(i) + block.values.columns());
      for (double& value : row) value = std::isnan(value) ? kMissing : value;
      table.rows.push_back(row);
    }
    table.ids.insert(table.ids.end(), block.ids.begin(), block.ids.end());
    table.labels.insert(table.labels.end(), block.labels.begin(), block.labels.end());
  }
  EXPECT_FALSE(source.read(block, limit));
  EXPECT_EQ(block.values.rows(), 0U);
  return table;
}

}  // namespace harmonia::test
