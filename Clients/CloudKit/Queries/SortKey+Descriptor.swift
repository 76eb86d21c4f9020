import Foundation
import PredicateFormat
import RecordModel

extension SortKey {
    /// Makes the sort key for a descriptor.
    ///
    /// - Throws: `CKError.Code.invalidArguments` for a comparator, a key path, and the farthest
    ///   first.
    init(_ descriptor: NSSortDescriptor) throws(CKError) {
        guard let key = descriptor.key else {
            throw .local(.invalidArguments, "Invalid sort descriptor: a query sorts by keys only")
        }
        let field: String
        switch SystemField.fieldName(key: key) {
        case .success(let name): field = name
        case .failure(let problem):
            throw .local(.invalidArguments, "Invalid sort descriptor: \(problem.text)")
        }
        guard let descriptor = descriptor as? CKLocationSortDescriptor else {
            self.init(field: field, isAscending: descriptor.ascending)
            return
        }
        guard descriptor.ascending else {
            throw .local(
                .invalidArguments,
                "Invalid sort descriptor: distances are sorted in ascending order only"
            )
        }
        guard let origin = descriptor.model else {
            throw .local(.invalidArguments, "Invalid sort descriptor: its location is off the globe")
        }
        self.init(field: field, isAscending: true, origin: origin)
    }
}
