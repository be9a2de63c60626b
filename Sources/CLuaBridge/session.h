// What the files of the session record share.

#ifndef AH_SESSION_H
#define AH_SESSION_H

#include "json.h"

/// The record as it was before the open transaction; people and timers are copied before their first change.
struct ah_session_saved {
    bool open, has_people, has_timers;
    uint64_t seq;
    int64_t time;
    uint64_t random[4];
    uint64_t next_id, next_timer;
    ah_text *parameters;
    ah_person *people;
    size_t people_count;
    ah_timer *timers;
    size_t timer_count;
};

/// A record with an empty document and no texts yet. [never]
ah_session *ah_session_make(void);
/// Append without saving for a rollback; the record takes over the texts. [never]
void ah_session_add_person(ah_session *s, ah_person person);
void ah_session_put_timer(ah_session *s, ah_timer timer);

#endif
