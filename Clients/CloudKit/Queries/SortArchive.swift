import Foundation
import RecordModel

/// Sort descriptors in an archive.
struct SortArchive {
    let descriptors: [NSSortDescriptor]

    init(_ descriptors: [NSSortDescriptor]) {
        self.descriptors = descriptors
    }

    /// Reads descriptors; `nil` if there are none.
    init?(_ body: ArchivedBody) {
        guard let count = body.integer("sortCount") else { return nil }
        let keys = body.texts("sortKeys")
        guard keys.count == count else { return nil }
        let descending = Set(body.texts("sortDescending"))
        self.descriptors = keys.enumerated().map { index, key in
            if case .location(let location) = body.value("sortOrigin\(index)") {
                return CKLocationSortDescriptor(key: key, relativeLocation: CLLocation(location))
            }
            return NSSortDescriptor(key: key.isEmpty ? nil : key, ascending: !descending.contains("\(index)"))
        }
    }

    var parts: [Field] {
        var parts = [Field("sortCount", .int64(Int64(self.descriptors.count)))]
        var keys: [String] = []
        var descending: [String] = []
        for (index, descriptor) in self.descriptors.enumerated() {
            var key = descriptor.key ?? ""
            if let descriptor = descriptor as? CKLocationSortDescriptor {
                if let origin = descriptor.model, descriptor.ascending {
                    parts.append(Field("sortOrigin\(index)", .location(origin)))
                } else {
                    // Without its location it would be another sort, and one that a query can have.
                    key = ""
                }
            }
            keys.append(key)
            if !descriptor.ascending { descending.append("\(index)") }
        }
        // Empty lists have no type.
        if !keys.isEmpty { parts.append(Field("sortKeys", .stringList(keys))) }
        if !descending.isEmpty { parts.append(Field("sortDescending", .stringList(descending))) }
        return parts
    }
}
