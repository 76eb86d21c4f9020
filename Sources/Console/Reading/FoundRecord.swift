import RecordModel
import RecordStore
import StorageContract

extension ConsolePages {
    /// Reads the record that a page names.
    func found(_ request: PageRequest, _ reader: DatabaseReader) async throws -> Record {
        guard let name = request.query["name"] else { throw PageFailure.invalid("The page names no record.") }
        let id = RecordID(zone: self.zone(request.query), recordName: name)
        let outcomes: [ReadOutcome]
        do throws(StoreError) {
            outcomes = try await reader.fetch([id])
        } catch {
            throw PageFailure(error, doing: "The record cannot be read")
        }
        switch outcomes.first {
        case .record(let record)?: return record
        case .failed(.recordMissing)?, .failed(.zoneMissing)?:
            throw PageFailure.missing(
                "There is no record \(Shown.beginning(of: name, bytes: 255)) in the zone \(id.zone.zoneName)."
            )
        case .failed(let error)?: throw PageFailure(error, doing: "The record cannot be read")
        case .zone?, .shareMetadata?, .identity?, .explanation?, nil:
            throw PageFailure.missing("There is no such record.")
        }
    }
}
