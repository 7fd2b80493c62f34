// SPDX-License-Identifier: Apache-2.0
// Flags, recipes, and the messages for wrong ones.
#include "tools/hpcc/CommandLine.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace hpcc;

static runtime::Result<CommandLine> parse(std::vector<const char *> arguments) {
  return parseCommandLine(arguments);
}
static std::string errorOf(std::vector<const char *> arguments) {
  runtime::Result<CommandLine> line = parse(std::move(arguments));
  return line ? "no error" : line.status().message();
}

TEST(CommandLine, HasTheDocumentedDefaults) {
  auto line = parse({"m.onnx"});
  ASSERT_TRUE(line) << line.status().message();
  EXPECT_EQ(line->model, "m.onnx");
  EXPECT_EQ(line->options.workers, 1);
  EXPECT_EQ(line->options.batch, 128);
  EXPECT_EQ(line->options.baseBatch, 128);
  EXPECT_EQ(line->options.schemeName(), "data");
  EXPECT_EQ(line->options.loss, "softmax");
  EXPECT_EQ(line->options.momentum, 0.9);
  EXPECT_EQ(line->options.weightDecay, 0.0);
  EXPECT_EQ(line->lr, 0.01);
  EXPECT_TRUE(line->shuffle);
  EXPECT_TRUE(line->given.empty());
  EXPECT_FALSE(line->runs());
}

TEST(CommandLine, TakesValuesBehindABlankOrAnEqualsSign) {
  EXPECT_EQ(parse({"m.onnx", "--cpus", "8"})->options.workers, 8);
  EXPECT_EQ(parse({"--cpus=8", "m.onnx"})->options.workers, 8);
  EXPECT_TRUE(parse({"m.onnx", "--gpus=8"})->gpus);
}

TEST(CommandLine, DefaultsToSchemeCOnSeveralWorkers) {
  auto line = parse({"m.onnx", "--cpus", "2"});
  EXPECT_EQ(line->options.schemeName(), "c");
  EXPECT_FALSE(line->given.contains("scheme"));
}

TEST(CommandLine, SuggestsTheFlagThatWasMeant) {
  EXPECT_EQ(errorOf({"m.onnx", "--scehme", "b"}),
            "unknown flag '--scehme'; did you mean '--scheme'?");
  EXPECT_EQ(errorOf({"m.onnx", "--epoch=3"}),
            "unknown flag '--epoch=3'; did you mean '--epochs'?");
  EXPECT_EQ(errorOf({"m.onnx", "--quantize-everything"}),
            "unknown flag '--quantize-everything'; --help lists all flags");
  EXPECT_EQ(errorOf({"m.onnx", "-x"}),
            "unknown flag '-x'; --help lists all flags");
}

TEST(CommandLine, NamesTheValuesThatAreAccepted) {
  EXPECT_EQ(errorOf({"m.onnx", "--scheme=d"}),
            "--scheme: expected one of a, b, c, data, got 'd'");
  EXPECT_EQ(errorOf({"m.onnx", "--optimizer", "adam"}),
            "--optimizer: expected sgd, got 'adam'");
  EXPECT_EQ(errorOf({"m.onnx", "--cpus", "0"}),
            "--cpus: expected a whole number of at least 1, got '0'");
  EXPECT_EQ(errorOf({"m.onnx", "--momentum", "1"}),
            "--momentum: expected a number in [0, 1), got '1'");
  EXPECT_EQ(errorOf({"m.onnx", "--lr", "nan"}),
            "--lr: expected a number of at least 0, got 'nan'");
  EXPECT_EQ(errorOf({"m.onnx", "--fc-update", "sometimes"}),
            "--fc-update: expected every, accumulate or a whole number of at "
            "least 1, got 'sometimes'");
  EXPECT_EQ(errorOf({"m.onnx", "--place", "fc6=model"}),
            "--place: expected PATTERN=data, got 'fc6=model'");
  EXPECT_EQ(errorOf({"m.onnx", "--no-decay", "bias,weights"}),
            "--no-decay: expected bias, norm or both, got 'weights'");
  EXPECT_NE(errorOf({"m.onnx", "--emit", "machine"}).find("import, normalized"),
            std::string::npos);
}

TEST(CommandLine, ExcludedFlagsAreUnknown) {
  for (const char *flag :
       {"--check", "--trace=x", "--profile", "--verify-schedule",
        "--accumulate=2", "--clip-norm=1", "--param=x", "--conv=auto",
        "--memory-limit=1", "--coordinator=h:1"})
    EXPECT_EQ(errorOf({"m.onnx", flag}).rfind("unknown flag", 0), 0u) << flag;
}

TEST(CommandLine, ReportsAForgottenValue) {
  EXPECT_EQ(errorOf({"m.onnx", "--lr"}),
            "flag '--lr' needs a value; see --help");
  EXPECT_EQ(errorOf({"m.onnx", "--data", "--val", "x"}),
            "flag '--data' needs a value, got the flag '--val'");
  EXPECT_EQ(errorOf({"m.onnx", "--data="}), "--data: the value is empty");
}

TEST(CommandLine, ReportsContradictions) {
  EXPECT_EQ(errorOf({"m.onnx", "--gpus=1", "--cpus=1"}),
            "--gpus and --cpus contradict each other; give one");
  EXPECT_EQ(errorOf({"m.onnx", "--data=d", "--epochs=1", "--steps=2"}),
            "--epochs and --steps contradict each other; give one");
  EXPECT_EQ(errorOf({"m.onnx", "--val=d"}), "--val needs --data");
  EXPECT_EQ(errorOf({"m.onnx", "--infer=a.npz"}),
            "--infer needs --output OUT.npz");
  EXPECT_EQ(errorOf({"m.onnx", "--data=d", "--infer=a", "--output=b"}),
            "--data and --infer contradict each other; give one");
  EXPECT_EQ(errorOf({"m.mlir", "--from=comm", "--emit=import"}),
            "--emit=import comes before the phase of --from=comm");
}

TEST(CommandLine, RefusesFewerExamplesThanWorkers) {
  EXPECT_EQ(errorOf({"m.onnx", "--cpus=8", "--batch=4"}),
            "--batch 4 is below the number of workers; give each of the 8 "
            "workers at least one example");
}

TEST(CommandLine, NeedsOneModel) {
  EXPECT_EQ(errorOf({"--cpus=8"}),
            "no model given; usage: hpcc MODEL.onnx [FLAG]...");
  EXPECT_EQ(errorOf({"a.onnx", "b.onnx"}),
            "expected one model, got 'a.onnx' and 'b.onnx'");
}

TEST(CommandLine, ReadsListsFromAllOccurrences) {
  auto line = parse({"m.onnx", "--place", "fc6=data,fc7=data", "--place=a=data",
                     "--loss-output", "y=0.3,z", "--mean=0.5,-1", "--data=d"});
  ASSERT_TRUE(line) << line.status().message();
  ASSERT_EQ(line->options.place.size(), 3u);
  EXPECT_EQ(line->options.place[2].pattern, "a");
  ASSERT_EQ(line->options.lossOutputs.size(), 2u);
  EXPECT_EQ(line->options.lossOutputs[0].weight, 0.3);
  EXPECT_EQ(line->options.lossOutputs[1].name, "z");
  EXPECT_EQ(line->options.lossOutputs[1].weight, 1.0);
  EXPECT_EQ(line->mean, (std::vector<float>{0.5f, -1.0f}));
}

namespace {
class Recipe : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / "hpcc-recipe-test";
    std::filesystem::create_directories(folder);
    path = folder / "r.txt";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void write(const char *text) { std::ofstream(path) << text; }
  std::filesystem::path folder;
  std::string path;
};
} // namespace

TEST_F(Recipe, GivesFlagsThatTheCommandLineReplaces) {
  write("# the paper's\n--lr 0.02   # rate\n--no-decay=bias\n\n"
        "--freeze 'conv #1'\n--steps 10\n--gpus 4\n");
  auto line = parse({"m.onnx", "--recipe", path.c_str(), "--lr=0.5", "--cpus=2",
                     "--data=d", "--epochs=3"});
  ASSERT_TRUE(line) << line.status().message();
  EXPECT_EQ(line->lr, 0.5);
  EXPECT_EQ(line->options.noDecay, std::vector<std::string>{"bias"});
  EXPECT_EQ(line->options.workers, 2);
  EXPECT_FALSE(line->gpus);
  EXPECT_EQ(line->steps, 0);
  EXPECT_EQ(line->epochs, 3);
}

TEST_F(Recipe, ListFlagsOfTheCommandLineReplaceItsOwn) {
  write("--freeze a\n--freeze b\n");
  EXPECT_EQ(parse({"m", "--recipe", path.c_str()})->options.freeze,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(
      parse({"m", "--recipe", path.c_str(), "--freeze=c"})->options.freeze,
      (std::vector<std::string>{"c"}));
}

TEST_F(Recipe, MistakesNameTheLine) {
  write("--lr 1\n\n--scehme c\n");
  EXPECT_EQ(errorOf({"m", "--recipe", path.c_str()}),
            path + ":3: unknown flag '--scehme'; did you mean '--scheme'?");
  write("model.onnx\n");
  EXPECT_EQ(errorOf({"m", "--recipe", path.c_str()}),
            path + ":1: a recipe holds flags, not 'model.onnx'");
  EXPECT_NE(errorOf({"m", "--recipe", "/nowhere/r.txt"})
                .find("cannot read '/nowhere/r.txt'"),
            std::string::npos);
}

TEST_F(Recipe, OutputPathsAreTriedBeforehand) {
  CommandLine line;
  line.exportFile = path;
  EXPECT_TRUE(checkOutputPaths(line).ok());
  EXPECT_FALSE(std::filesystem::exists(path)) << "trying must leave nothing";
  line.exportFile = folder / "missing" / "x.onnx";
  EXPECT_NE(checkOutputPaths(line).message().find("--export: cannot write"),
            std::string::npos);
  line.exportFile = folder;
  EXPECT_NE(checkOutputPaths(line).message().find("is a directory"),
            std::string::npos);
  line.exportFile.clear();
  write("x");
  line.checkpoint = path;
  EXPECT_NE(checkOutputPaths(line).message().find("--checkpoint: cannot"),
            std::string::npos);
  line.checkpoint = folder / "a" / "b";
  EXPECT_TRUE(checkOutputPaths(line).ok());
}
