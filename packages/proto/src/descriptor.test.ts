import { readFileSync } from "node:fs";
import { type DescFile, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { file_codex_code_mode_v1_code_mode } from "./code-mode.ts";
import { file_crabcode_crabcode } from "./crabcode.ts";
import { file_xai_grok_tools_v1_grok_tools } from "./grok-tools.ts";

describe("generated descriptors", () => {
  it.each([
    ["grok-tools", file_xai_grok_tools_v1_grok_tools],
    ["code-mode", file_codex_code_mode_v1_code_mode],
    ["crabcode", file_crabcode_crabcode],
  ])("of %s equal the pinned image of the contract", (contract, file: DescFile) => {
    expect(normalised(file.proto)).toEqual(normalised(pinnedImage(contract)));
  });
});

function pinnedImage(contract: string): FileDescriptorProto {
  const image = readFileSync(new URL(`../images/${contract}.binpb`, import.meta.url));
  const [file] = fromBinary(FileDescriptorSetSchema, image).file;
  if (file === undefined) throw new Error(`the image of ${contract} holds no file`);
  return file;
}

/** The descriptor without what a contract does not fix: file name, comments and order of declarations. */
function normalised(file: FileDescriptorProto): FileDescriptorProto {
  const copy = fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, file), {
    // buf's own extension fields of an image
    readUnknownFields: false,
  });
  copy.name = "";
  delete copy.sourceCodeInfo;
  for (const list of [copy.messageType, copy.enumType, copy.service]) {
    list.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  return copy;
}
