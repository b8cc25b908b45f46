/** Version of this package, for `ExecutionMetadata.tool_version`. Kept equal to package.json by a test. */
export const PACKAGE_VERSION = "0.1.0";
