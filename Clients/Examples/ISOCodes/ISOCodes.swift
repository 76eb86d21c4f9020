import CloudKit

/// The contents of Debian's package `iso-codes`, and the records for them.
struct ISOCodes {
    private struct Country: Decodable {
        let alpha_2: String
        let alpha_3: String
        let name: String
        let numeric: String
        let flag: String
        let official_name: String?
    }

    private struct Subdivision: Decodable {
        let code: String
        let name: String
        let type: String
        let parent: String?

        var countryCode: String { String(self.code.prefix(2)) }

        /// The code of the subdivision that contains this one; in some files without the country.
        var parentCode: String? {
            guard let parent = self.parent else { return nil }
            return parent.contains("-") ? parent : "\(self.countryCode)-\(parent)"
        }
    }

    private let countries: [Country]
    private let subdivisions: [Subdivision]

    static func load(folder: String = "/usr/share/iso-codes/json") throws -> ISOCodes {
        func read<Content: Decodable>(_ name: String, key: String) throws -> [Content] {
            let path = "\(folder)/\(name)"
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Failure("\(path) is missing. Install it: apt-get install iso-codes")
            }
            return try JSONDecoder().decode([String: [Content]].self, from: data)[key] ?? []
        }
        return ISOCodes(
            countries: try read("iso_3166-1.json", key: "3166-1"),
            subdivisions: try read("iso_3166-2.json", key: "3166-2")
        )
    }

    func countryRecords(in zoneID: CKRecordZone.ID) -> [CKRecord] {
        self.countries.map { country in
            let recordID = CKRecord.ID(recordName: country.alpha_2, zoneID: zoneID)
            let record = CKRecord(recordType: "Country", recordID: recordID)
            record["name"] = country.name
            record["kind"] = "Country"
            record["officialName"] = country.official_name
            record["alpha3"] = country.alpha_3
            record["numeric"] = Int(country.numeric)
            record["flag"] = country.flag
            return record
        }
    }

    /// Parents come before their parts: the files have regions and departments in any order.
    func subdivisionRecords(in zoneID: CKRecordZone.ID) -> [CKRecord] {
        let parents = Dictionary(uniqueKeysWithValues: self.subdivisions.map { ($0.code, $0.parentCode) })
        func depth(_ code: String) -> Int {
            guard let parent = parents[code] ?? nil, parents[parent] != nil else { return 0 }
            return depth(parent) + 1
        }
        let ordered = self.subdivisions.map { (depth($0.code), $0) }.sorted { $0.0 < $1.0 }
        return ordered.map { level, subdivision in
            let recordID = CKRecord.ID(recordName: subdivision.code, zoneID: zoneID)
            let countryID = CKRecord.ID(recordName: subdivision.countryCode, zoneID: zoneID)
            let record = CKRecord(recordType: "Subdivision", recordID: recordID)
            record["name"] = subdivision.name
            record["kind"] = subdivision.type
            record["country"] = CKRecord.Reference(recordID: countryID, action: .none)
            let parentName = level == 0 ? nil : subdivision.parentCode
            record.setParent(parentName.map { CKRecord.ID(recordName: $0, zoneID: zoneID) } ?? countryID)
            return record
        }
    }
}
