// SPDX-License-Identifier: Apache-2.0
// Passes of the verify room.

def VerifyPhase : Pass<"hpcc-verify-phase"> {
  let summary = "Check that the IR holds only what its phase may hold";
  let description = [{
    The contract of a phase says which dialects and ops may be left. A
    violation names the pass that was expected to have removed the op.
  }];
  let options = [Option<"phase", "phase", "std::string", "", "name of the phase">];
}
