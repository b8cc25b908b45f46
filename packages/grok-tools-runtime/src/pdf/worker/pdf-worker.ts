import { parentPort, workerData } from "node:worker_threads";
import type { PdfJob } from "../pdf-job.ts";
import { answerJob } from "./answer-job.ts";
import { loadPdfium } from "./load-pdfium.ts";

// The whole life of a worker: one document in, one answer out.
const job: PdfJob = workerData;
parentPort?.postMessage(answerJob(await loadPdfium(), job));
