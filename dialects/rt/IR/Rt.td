// SPDX-License-Identifier: Apache-2.0
// The rt dialect: thin ops, one to one with the runtime's C ABI.

#ifndef HPCC_DIALECTS_RT
#define HPCC_DIALECTS_RT

include "mlir/IR/OpBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::hpcc::rt";
  let summary = "Calls of the runtime";
}

class Rt_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rt_Dialect, mnemonic, traits>;

def Rt_DefineOp : Rt_Op<"define"> {
  let summary = "Enters a primitive or collective into the descriptor table";
  let arguments = (ins I64Attr:$id, StrAttr:$kind, DictionaryAttr:$params);
  let assemblyFormat = "$id $kind $params attr-dict";
}

#endif // HPCC_DIALECTS_RT
