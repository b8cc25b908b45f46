import { describe, expect, it } from "vitest";
import { usesBackgroundOperator } from "./background-operator.ts";

describe("usesBackgroundOperator", () => {
  it.each([
    "sleep 1 &",
    "sleep 1 & echo x",
    "a && b & c",
    "cat <<EOF & echo\nx\nEOF",
    "(sleep 1 &)",
    'echo "$(sleep 1)" & true',
    "echo a <<< b & true",
    "echo 'it'\\''s' & true",
    "cat <<EOF\nbody\nEOF\nsleep 1 & echo",
  ])("finds it in %j", (command) => {
    expect(usesBackgroundOperator(command, "current")).toBe(true);
  });

  it.each([
    "a && b",
    "echo 'a & b'",
    'echo "a & b"',
    'echo "a \\" & b"',
    "echo a\\&b",
    "make > log 2>&1",
    "make &> log",
    "make &>> log",
    "cat <&3",
    "cat <<EOF\na & b\nEOF",
    "cat <<'E F'\na & b\nE F\n",
    "cat <<-EOF\n\ta & b\n\tEOF\n",
    "cat <<A <<B\n1 &\nA\n2 &\nB\n",
    "cat <<EOF\nnever closed & so\n",
    "sleep 1 & wait",
    "sleep 1 & sleep 2 & wait;",
    "true # not & this",
  ])("finds none in %j", (command) => {
    expect(usesBackgroundOperator(command, "current")).toBe(false);
  });

  it.each([
    ["sleep 1 &", true],
    ["sleep 1 & ", true],
    ["sleep 1 & echo", false],
    ["true &&", false],
    ["exec 3>&", false],
  ])("of the legacy rule: %j is %s", (command, expected) => {
    expect(usesBackgroundOperator(command, "legacy")).toBe(expected);
  });
});
