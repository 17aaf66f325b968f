-- DropTable: reminders of the first release never fired, and nobody misses them.
DROP TABLE IF EXISTS "reminder";
-- CreateTable
CREATE TABLE "reminder" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "plantId" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "weekday" INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT "reminder_plantId_fkey" FOREIGN KEY ("plantId") REFERENCES "plant" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "weekday" CHECK ("weekday" BETWEEN 1 AND 7)
);
-- CreateIndex
CREATE UNIQUE INDEX "reminder_plantId_text_key" ON "reminder"("plantId", "text");
