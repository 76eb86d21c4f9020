import Administration
import Console
import Foundation
import RecordModel
import RecordServer
import RecordStore

/// Brings the files of the console's pages into databases, as `tidemark records import` does.
struct ConsoleImport: Sendable {
    let folder: DataFolder

    func run(_ order: RecordImport) async -> RecordImportOutcome {
        do {
            let result = try await self.result(of: order)
            return result.isEmpty
                ? .failed(RecordFile.isEmpty.capitalizedFirst + ".") : .finished(result.report)
        } catch is CancellationError {
            return .failed(
                "The browser has left before the end. Import the file again: what is there is left alone."
            )
        } catch {
            if let failure = CommandFailure(of: error) { return .failed(failure.message.capitalizedFirst) }
            return .failed("The import failed: \(error). Import the file again: what is there is left alone.")
        }
    }

    private func result(of order: RecordImport) async throws -> ImportResult {
        let settings = try await SettingsReader.settings(beside: self.folder)
        let selection = DatabaseSelection(
            container: order.container,
            scope: order.scope,
            user: order.user,
            environment: order.environment
        )
        return try await AdministeredStore.open(self.folder, settings: settings) { store in
            let database = AdministeredDatabase(
                store: store,
                requester: try selection.requester(
                    in: store,
                    absent: order.isDryRun ? .isAssumed : .isMade
                ),
                folder: self.folder,
                bounds: settings.server.bounds
            )
            let bar = TerminalProgress()
            var run = ImportRun(
                database: database,
                source: ImportSource(
                    file: try InputFile(
                        path: order.path,
                        // The page knows the file by another name.
                        name: "The file",
                        folder: database.folder.path,
                        reserveBytes: settings.diskReserveBytes
                    ),
                    isCSV: order.isCSV,
                    recordType: order.recordType,
                    owners: database.owners
                ),
                zone: order.zone,
                policy: order.policy.policy,
                assets: AssetsBeside(path: order.path + ".assets", database: database),
                isDryRun: order.isDryRun,
                showProgress: { bar.show($0, of: $1) }
            )
            try await run.run(createsZones: order.createsZones)
            bar.clear()
            return run.result
        }
    }
}

extension ImportResult {
    /// The numbers for a page.
    fileprivate var report: RecordImportReport {
        var report = RecordImportReport()
        report.created = self.created
        report.changed = self.changed
        report.unchanged = self.unchanged
        report.skipped = self.skipped
        report.zonesCreated = self.zonesCreated
        report.refused = self.failures.count
        report.failures = self.failures.kept.map {
            RecordImportReport.Failure(line: $0.line, record: $0.record, reason: $0.text)
        }
        return report
    }
}

extension RecordImport.Policy {
    fileprivate var policy: ModifyRecords.Policy {
        switch self {
        case .ifUnchanged: .ifServerRecordUnchanged
        case .changedKeys: .changedKeys
        case .allKeys: .allKeys
        }
    }
}
