export { ScriptedCell, ScriptedEngine } from "./scripted-engine.ts";
