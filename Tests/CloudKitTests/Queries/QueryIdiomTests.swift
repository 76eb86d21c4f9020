import CloudKit
import Foundation
import Testing

struct `A query as published code writes it` {
    private let place = CLLocation(latitude: 1, longitude: 2)

    @Test func `can be asked`() {
        let other = CKRecord(recordType: "Other")
        let predicates = QueryIdioms.documented("n", Date(), self.place, other)
        #expect(predicates.compactMap { refusal($0) } == [])
        #expect(QueryIdioms.compound(predicates).compactMap { refusal($0) } == [])
        #expect(refusal(QueryIdioms.query(for: "Thing", near: self.place)) == nil)
        #expect(refusal(QueryIdioms.query(for: "Thing")) == nil)
    }

    @Test func `sorts by what it says`() throws {
        let query = QueryIdioms.query(for: "Thing", near: self.place)
        #expect(try query.modelQuery().sort.map(\.field) == ["___createTime", "location"])
    }
}
