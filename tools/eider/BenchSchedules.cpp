//===- tools/eider/BenchSchedules.cpp - Schedules that --sweep tries ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/BenchCells.h"

#include <set>

namespace eider::cli {

namespace {

std::string threadsAndVector(int threads, int vector) {
  return "<threads = " + std::to_string(threads) + ", vector = " + std::to_string(vector);
}

/// Blocks of several rows.
void addTiles(std::vector<std::string> &list) {
  for (const char *size :
       {"128, vector = 16", "512, vector = 16", "1024, vector = 16", "512, vector = 8"})
    list.push_back(std::string("tile<threads = ") + size + ", rows = 128, columns = 128>");
}

/// Whole rows: several a block, and several blocks a multiprocessor.
void addRows(std::vector<std::string> &list, int64_t columns) {
  const int vector = 16;
  for (int threads : {64, 128, 256, 512, 1024}) {
    if (threads * vector > columns || columns / threads > 64)
      continue;
    const std::string base = "row" + threadsAndVector(threads, vector);
    for (const char *tiles : {"", ", tiles = 2", ", tiles = 3", ", tiles = 4"})
      for (int resident : std::set<int>{0, 1, 1024 / threads, 1280 / threads, 1536 / threads})
        if (resident < 2 || resident * threads <= 1536)
          list.push_back(base + tiles +
                         (resident ? ", resident = " + std::to_string(resident) : "") + ">");
  }
}

void addMaps(std::vector<std::string> &list, int64_t columns) {
  for (int vector : {4, 8, 16})
    for (int threads : {64, 128, 256, 512, 1024})
      for (int loads : {1, 2, 4})
        if (threads * vector * loads <= columns)
          list.push_back("map" + threadsAndVector(threads, vector) +
                         ", loads = " + std::to_string(loads) + ">");
}

} // namespace

std::vector<std::string> schedulesFor(const BenchCell &cell) {
  const std::string &block = cell.program.parameters.block;
  const auto hidden = cell.program.dims.find("hidden");
  const int64_t columns = hidden == cell.program.dims.end() ? 0 : hidden->second;
  std::vector<std::string> list = {""};
  if (block == "128x128")
    addTiles(list);
  else if (block == "1x*" || cell.program.source.find("norm") != std::string::npos)
    addRows(list, columns);
  else
    addMaps(list, columns);
  return list;
}

} // namespace eider::cli
