import Console
import Foundation
import RecordModel
import RecordStore

/// Brings the files of the console's pages into databases, as `tidemark records import` does.
struct ConsoleImport: Sendable {
    let data: DataOption

    func run(_ order: RecordImport) async -> RecordImportOutcome {
        do {
            let result = try await self.result(of: order)
            return result.isEmpty
                ? .failed(RecordFile.isEmpty.capitalizedFirst + ".") : .finished(result.report)
        } catch let failure as CommandFailure {
            // The page knows the file by another name.
            return .failed(failure.message.replacingOccurrences(of: order.path, with: "The file"))
        } catch is CancellationError {
            return .failed(
                "The browser has left before the end. Import the file again: what is there is left alone."
            )
        } catch {
            return .failed("The import failed: \(error). Import the file again: what is there is left alone.")
        }
    }

    private func result(of order: RecordImport) async throws -> ImportResult {
        var options = RecordsOptions<DatabaseName>()
        options.container = order.container
        options.database = DatabaseName(order.scope)
        options.user = order.user
        options.environment = EnvironmentName(order.environment)
        options.data = self.data
        var settings = SettingsOptions()
        settings.config = nil
        settings.assignments = []
        let reserveBytes = try await settings.read(beside: self.data.folder).diskReserveBytes
        return try await options.openForWriting(settings, absent: order.isDryRun ? .isAssumed : .isMade) {
            database in
            var run = ImportRun(
                database: database,
                source: ImportSource(
                    file: try InputFile(
                        path: order.path,
                        folder: database.folder.path,
                        reserveBytes: reserveBytes
                    ),
                    isCSV: order.isCSV,
                    recordType: order.recordType,
                    owners: database.owners
                ),
                zone: order.zone,
                policy: PolicyName(order.policy),
                assets: AssetsBeside(path: order.path + ".assets", database: database),
                isDryRun: order.isDryRun
            )
            do {
                try await run.prepare(createsZones: order.createsZones)
                try await run.write()
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "The import stops, \(run.result.written)")
            }
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

extension DatabaseName {
    fileprivate init(_ scope: DatabaseScope) {
        switch scope {
        case .private: self = .private
        case .public: self = .public
        case .shared: self = .shared
        }
    }
}

extension PolicyName {
    fileprivate init(_ policy: RecordImport.Policy) {
        switch policy {
        case .ifUnchanged: self = .ifUnchanged
        case .changedKeys: self = .changedKeys
        case .allKeys: self = .allKeys
        }
    }
}
