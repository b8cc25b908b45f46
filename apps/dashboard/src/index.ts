export { type DashboardFile, dashboardFiles } from "./dashboard-files.ts";
